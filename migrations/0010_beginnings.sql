-- Which entries may have an id that begins so? Two of the six bytes that a run keeps of each id are now of its first four
-- characters. All runs are made anew from the entries.
DELETE FROM _chains;
