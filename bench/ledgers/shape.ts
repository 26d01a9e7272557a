/** The shape of a benchmark's ledger. A shape always gives the same history, except for its dates. */
export interface LedgerShape {
  /** Names its database. */
  readonly name: string;
  readonly accounts: number;
  /** Pay-ins and transfers; each is one ledger transaction of two entries. */
  readonly operations: number;
  /** Whether the first account takes part in every transfer, or is one among many. */
  readonly hasBusyAccount: boolean;
}

/** Every account is funded once in each asset. */
export const FUNDINGS_PER_ACCOUNT = 2;

export const ENTRIES_PER_OPERATION = 2;

const FEWEST_ACCOUNTS = 1_000;
const ENTRIES_PER_ACCOUNT = 100;

/** Returns a ledger in which money moves between random accounts. Their number grows with the entries. */
export function evenLedger(name: string, entries: number): LedgerShape {
  const accounts = Math.max(FEWEST_ACCOUNTS, Math.round(entries / ENTRIES_PER_ACCOUNT));
  return { name, accounts, operations: entries / ENTRIES_PER_OPERATION, hasBusyAccount: false };
}

const COUNTERPARTIES = 5_000;

/** Returns a ledger with one busy account of this many entries, all with other accounts or from outside. */
export function busyLedger(
  name: string,
  entriesOfTheBusyAccount: number,
  counterparties = COUNTERPARTIES,
): LedgerShape {
  const accounts = counterparties + 1;
  // Includes the fundings of all other accounts.
  const operations = entriesOfTheBusyAccount + counterparties * FUNDINGS_PER_ACCOUNT;
  return { name, accounts, operations, hasBusyAccount: true };
}
