import { Foundation1764115200000 } from './1764115200000-foundation.js';

/** Every change of the schema, oldest first. */
export const migrations = [Foundation1764115200000];
