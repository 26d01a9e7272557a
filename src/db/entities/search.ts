import * as column from '../columns.js';
import { defineTable } from '../table.js';

/**
 * The index of accounts, tenants and operations by the words of their names and texts. Derived from
 * rows that never change these, shortly after they were committed.
 */
export const searchWords = defineTable(
  'search_words',
  {
    /** Id of the resource. */
    id: column.uuid,
    /** A word in lower case without accents, an amount, or the digits of a phone from the last one on. */
    word: column.varchar(40),
  },
  { key: ['id', 'word'], indexes: { word: ['word', 'id'] } },
);
