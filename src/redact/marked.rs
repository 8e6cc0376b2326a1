//! Which tokens does their issuer mark, so that they can be found where they should not be?
//!
//! The marks are data after gitleaks 8.27.0, `config/gitleaks.toml`
//! (<https://github.com/gitleaks/gitleaks>): those of its rules whose keyword is how the token
//! itself begins. Lengths are shorter than there, for a token whose end is cut off is one still,
//! and the mark stays outside of what is left out. To take a later version up, go through its
//! `[[rules]]` for such keywords. Marks that it lacks are those that the issuers document for
//! secret scanning. gitleaks' notice:
//!
//! MIT License. Copyright (c) 2019 Zachary Rice. Permission is hereby granted, free of charge, to
//! any person obtaining a copy of this software and associated documentation files (the
//! "Software"), to deal in the Software without restriction, including without limitation the
//! rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the
//! Software, and to permit persons to whom the Software is furnished to do so, subject to the
//! following conditions: The above copyright notice and this permission notice shall be included in
//! all copies or substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT
//! WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
//! MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
//! AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN
//! ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE
//! OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

use super::rules::{Rule, issued};

/// All of them: no beginning is shorter than three bytes.
pub const MARKED: &[Rule] = &[
    issued(
        "OpenAI, Anthropic, OpenRouter, DeepSeek and others",
        &["sk-"],
        "[A-Za-z0-9_-]{16,}",
    ),
    issued(
        "GitHub",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        "[A-Za-z0-9_]{16,}",
    ),
    issued(
        "GitLab",
        &[
            "glpat-", "glptt-", "glrt-", "glrtr-", "gldt-", "glft", "glcbt-", "glffct-", "glimt-",
            "glagent-", "gloas-", "glsoat-",
        ],
        "(?:t?-)?([A-Za-z0-9_.-]{16,})",
    )
    .with_letters(10),
    issued("GitLab runner", &["GR1348941"], "[A-Za-z0-9_-]{16,}"),
    issued("AWS", &["AKIA", "ASIA", "ABIA", "ACCA"], "[A-Z0-9]{16}").with_letters(16),
    issued("AWS Bedrock", &["ABSK"], "[A-Za-z0-9+/]{100,}={0,2}"),
    issued("Alibaba", &["LTAI"], "[A-Za-z0-9]{17,21}"),
    issued("Google", &["AIza"], "[A-Za-z0-9_-]{20,}"),
    issued("Google OAuth", &["ya29.", "GOCSPX-"], "[A-Za-z0-9_-]{16,}"),
    issued("Google refresh", &["1//0"], "[A-Za-z0-9_-]{30,}"),
    issued("Firebase messaging", &[":APA91b"], "[A-Za-z0-9_-]{60,}").within_a_word(),
    issued(
        "Slack",
        &["xox", "xapp"],
        "[abeoprs]?(?:\\.xox[bp])?-([A-Za-z0-9-]{10,})",
    ),
    issued(
        "Slack webhook",
        &[
            "hooks.slack.com/services/",
            "hooks.slack.com/workflows/",
            "hooks.slack.com/triggers/",
        ],
        "[A-Za-z0-9/]{20,}",
    ),
    issued(
        "Discord webhook",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        "[0-9]{10,}/([A-Za-z0-9_-]{20,})",
    ),
    issued(
        "Teams webhook",
        &["webhook.office.com/webhookb2/"],
        "[A-Za-z0-9@/_-]{40,}",
    ),
    issued("Telegram bot", &[":AA"], "[A-Za-z0-9_-]{32,33}").behind_a_digit(),
    issued(
        "Stripe",
        &["sk_", "rk_"],
        "(?:live|test|prod)_([A-Za-z0-9]{10,})",
    )
    .with_letters(20),
    issued("Stripe webhook, Svix", &["whsec_"], "[A-Za-z0-9+/]{16,}").with_letters(20),
    issued(
        "Square",
        &["sq0atp-", "sq0csp-", "EAAA"],
        "[A-Za-z0-9_-]{22,}",
    ),
    issued(
        "Facebook",
        &["EAAM", "EAAC", "EAAB", "EAAG"],
        "[A-Za-z0-9]{60,}",
    ),
    issued("Shippo", &["shippo_"], "(?:live|test)_([a-fA-F0-9]{20,})"),
    issued("EasyPost", &["EZAK", "EZTK"], "[A-Za-z0-9]{40,}"),
    issued(
        "Flutterwave",
        &["FLWSECK_TEST-", "FLWSECK-"],
        "[A-Za-z0-9]{12,}",
    ),
    issued(
        "Duffel",
        &["duffel_"],
        "(?:test|live)_([A-Za-z0-9_=-]{30,})",
    ),
    issued("npm", &["npm_"], "[A-Za-z0-9]{30,}"),
    issued("PyPI", &["pypi-AgE"], "[A-Za-z0-9_-]{16,}"),
    issued("crates.io", &["cio"], "[A-Za-z0-9]{32}"),
    issued("RubyGems", &["rubygems_"], "[a-f0-9]{30,}"),
    issued("Clojars", &["CLOJARS_"], "[A-Za-z0-9]{40,}"),
    issued(
        "Docker Hub",
        &["dckr_pat_", "dckr_oat_"],
        "[A-Za-z0-9_-]{20,}",
    ),
    issued("Artifactory", &["AKCp"], "[A-Za-z0-9]{50,}"),
    issued("Hugging Face", &["hf_"], "[A-Za-z0-9]{30,}"),
    issued("Hugging Face organisation", &["api_org_"], "[A-Za-z]{30,}"),
    issued("Groq", &["gsk_"], "[A-Za-z0-9]{30,}"),
    issued("xAI, Perplexity", &["xai-", "pplx-"], "[A-Za-z0-9]{30,}"),
    issued("Replicate", &["r8_"], "[A-Za-z0-9]{30,}"),
    issued("Tavily", &["tvly-"], "[A-Za-z0-9-]{20,}"),
    issued("NVIDIA", &["nvapi-"], "[A-Za-z0-9_-]{40,}"),
    issued("Fireworks", &["fw_"], "[A-Za-z0-9]{22,}"),
    issued(
        "LangSmith",
        &["lsv2_pt_", "lsv2_sk_"],
        "[a-f0-9]{20,}(?:_[a-f0-9]+)?",
    ),
    issued(
        "SendGrid",
        &["SG."],
        "[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}",
    ),
    issued(
        "Brevo",
        &["xkeysib-", "xsmtpsib-"],
        "[a-f0-9]{30,}(?:-[A-Za-z0-9]{10,})?",
    ),
    issued("Mailgun", &["key-"], "[a-f0-9]{32}").beside_no_word(),
    issued("Resend", &["re_"], "[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}"),
    issued(
        "DigitalOcean",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        "[0-9a-f]{16,}",
    ),
    issued(
        "Fly.io",
        &["fo1_", "fm1", "fm2_"],
        "(?:[ar]_)?([A-Za-z0-9_+/-]{40,}={0,3})",
    ),
    issued("Heroku", &["HRKU-"], "[A-Za-z0-9_-]{30,}"),
    issued("Netlify", &["nfp_"], "[A-Za-z0-9]{30,}"),
    issued("Render", &["rnd_"], "[A-Za-z0-9]{24,}"),
    issued("Supabase", &["sbp_", "sb_secret_"], "[A-Za-z0-9_-]{30,}"),
    issued("Cloudflare", &["v1.0-"], "[a-f0-9]{24}-[a-f0-9]{100,}"),
    issued("Scalingo", &["tk-us-"], "[A-Za-z0-9_-]{40,}"),
    issued(
        "PlanetScale",
        &["pscale_tkn_", "pscale_oauth_", "pscale_pw_"],
        "[A-Za-z0-9_=.-]{30,}",
    ),
    issued("Linear", &["lin_api_", "lin_oauth_"], "[A-Za-z0-9]{30,}"),
    issued("Notion", &["ntn_", "secret_"], "[A-Za-z0-9]{40,}"),
    issued("Figma", &["figd_", "figo_"], "[A-Za-z0-9_-]{30,}"),
    issued("Asana", &["1/1"], "[0-9]{12,18}:[a-f0-9]{32}").beside_no_word(),
    issued("Airtable", &["pat"], "[A-Za-z0-9]{14}\\.[a-f0-9]{40,}"),
    issued(
        "Atlassian",
        &["ATATT3", "ATCTT3", "ATBB"],
        "[A-Za-z0-9_=-]{28,}",
    ),
    issued("Vault", &["hvs.", "hvb.", "hvr."], "[A-Za-z0-9_-]{20,}"),
    issued("Terraform Cloud", &[".atlasv1."], "[A-Za-z0-9_=-]{40,}").within_a_word(),
    issued("Pulumi", &["pul-"], "[a-f0-9]{40}"),
    issued(
        "Doppler",
        &["dp."],
        "(?:pt|st|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{2,35}\\.)?([A-Za-z0-9]{40,})",
    ),
    issued("1Password", &["ops_eyJ"], "[A-Za-z0-9+/=_-]{60,}"),
    issued(
        "1Password secret key",
        &["A3-"],
        "[A-Z0-9]{6}-[A-Z0-9-]{20,}",
    )
    .with_letters(20),
    issued("Databricks", &["dapi"], "[0-9a-f]{32}"),
    issued(
        "Dynatrace",
        &["dt0c01.", "dt0s01."],
        "[A-Z0-9]{24}\\.[A-Z0-9]{40,}",
    ),
    issued("Grafana", &["glc_", "glsa_"], "[A-Za-z0-9+/_=]{30,}"),
    issued(
        "New Relic",
        &["NRAK-", "NRII-", "NRJS-", "NRRA-"],
        "[A-Za-z0-9-]{19,}",
    ),
    issued("Sentry", &["sntrys_", "sntryu_"], "[A-Za-z0-9+/_=]{30,}"),
    issued("PostHog", &["phx_", "phs_"], "[A-Za-z0-9]{30,}"),
    issued("SonarQube", &["sqp_", "sqa_", "squ_"], "[a-f0-9]{40}"),
    issued(
        "Sourcegraph",
        &["sgp_"],
        "(?:[a-fA-F0-9]{16}_|local_)?([a-fA-F0-9]{40})",
    ),
    issued(
        "Mapbox",
        &["sk.eyJ1"],
        "[A-Za-z0-9_-]{20,}\\.[A-Za-z0-9_-]{20,}",
    ),
    issued("Pinecone", &["pcsk_"], "[A-Za-z0-9_]{40,}"),
    issued("Postman", &["PMAK-"], "[a-f0-9]{24}-[a-f0-9]{30,}"),
    issued("Shopify", &["shp"], "(?:at|ca|pa|ss)_([0-9a-fA-F]{16,})"),
    issued("Prefect", &["pnu_", "pnb_"], "[A-Za-z0-9]{30,}"),
    issued("ReadMe", &["rdme_"], "[A-Za-z0-9]{40,}"),
    issued("Typeform", &["tfp_"], "[A-Za-z0-9_.=-]{40,}"),
    issued("Frame.io", &["fio-u-"], "[A-Za-z0-9_=-]{40,}"),
    issued("Infracost", &["ico-"], "[A-Za-z0-9]{32}"),
    issued("Octopus Deploy", &["API-"], "[A-Z0-9]{26}").beside_no_word(),
    issued("OpenShift", &["sha256~"], "[A-Za-z0-9_-]{40,}"),
    issued("Adobe", &["p8e-"], "[A-Za-z0-9]{32}"),
    issued("ClickHouse", &["4b1d"], "[A-Za-z0-9]{38}"),
    issued(
        "Defined Networking",
        &["dnkey-"],
        "[a-z0-9=_-]{26}-[a-z0-9=_-]{40,}",
    ),
    issued("42", &["s-s4t2"], "(?:ud|af)-([a-f0-9]{60,})"),
    issued(
        "SettleMint",
        &["sm_aat_", "sm_pat_", "sm_sat_"],
        "[A-Za-z0-9]{16}",
    ),
    issued(
        "LaunchDarkly, Contentful",
        &["api-", "sdk-", "CFPAT-"],
        "[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}|[A-Za-z0-9_-]{43}",
    )
    .beside_no_word(),
    issued(
        "Plaid",
        &[
            "access-sandbox-",
            "access-development-",
            "access-production-",
        ],
        "[0-9a-f]{8}-[0-9a-f-]{27}",
    )
    .beside_no_word(),
    issued("Tailscale", &["tskey-"], "[A-Za-z0-9-]{16,}"),
    issued("Yandex", &["AQVN", "YCA", "y0_"], "[A-Za-z0-9_-]{34,}"),
    issued(
        "Twilio",
        &[
            "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb",
            "SKc", "SKd", "SKe", "SKf",
        ],
        "[0-9a-f]{31}",
    ),
    issued("age", &["AGE-SECRET-KEY-1"], "[A-Z0-9]{16,}"),
];
