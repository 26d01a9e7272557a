import { Foundation1763683200000 } from './1763683200000-foundation.js';

/** Every change of the schema, oldest first. */
export const migrations = [Foundation1763683200000];
