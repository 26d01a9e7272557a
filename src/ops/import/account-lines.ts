import { parseAlias, parsePhone } from '../../accounts/identifiers.js';
import type { NewAccount } from '../../accounts/opening.js';
import type { FieldProblem, Refusal } from '../../core/errors.js';
import type { Uuid } from '../../core/ids.js';
import type { Member } from '../../db/entities/parties.js';
import { grants } from '../inputs.js';
import type { CsvColumns, CsvLine } from './csv-lines.js';

/** Parses the lines of an import of accounts, and finds their problems. */

export const COLUMNS: CsvColumns = {
  required: ['type', 'name'],
  optional: ['alias', 'phone', 'grant'],
};

/**
 * A problem of a line. `code` is a code of the API, or duplicate_line, missing_identifier,
 * wrong_column_count, unknown_member.
 */
export interface LineProblem {
  readonly line: number;
  readonly column: string;
  readonly code: string;
  readonly value: string;
  readonly message: string;
}

export interface ImportLine {
  readonly line: CsvLine;
  readonly wanted: NewAccount;
}

export type ReadLine = ImportLine | { readonly problems: readonly LineProblem[] };

/** Reads the lines of one file in order: no line may name the alias or phone of an earlier line. */
export class AccountLines {
  private readonly members: ReadonlyMap<string, Uuid>;
  /** An alias or a phone, and the line that names it. */
  private readonly named = new Map<string, number>();

  constructor(
    private readonly tenantId: Uuid,
    members: readonly Member[],
  ) {
    this.members = new Map(members.map(({ id, name }) => [name, id]));
  }

  read(line: CsvLine): ReadLine {
    const { type = '', name = '', alias = '', phone = '', grant = '' } = line.values;
    const problems: LineProblem[] = [];
    const wrong = (column: string, code: string, message: string): void => {
      problems.push({ line: line.number, column, code, value: line.values[column] ?? '', message });
    };
    if (line.fault !== null) wrong('', 'wrong_column_count', line.fault);
    if (type !== 'person' && type !== 'business')
      wrong('type', 'invalid_field', 'must be person or business');
    if (name === '') wrong('name', 'missing_field', 'is required');
    if (alias === '' && phone === '')
      wrong(
        '',
        'missing_identifier',
        'an alias or a phone is required: by it a second run knows the account again',
      );
    this.nameOnce(line, 'alias', alias === '' ? null : parseAlias(alias), wrong);
    this.nameOnce(line, 'phone', phone === '' ? null : parsePhone(phone), wrong);
    const granted = this.readGrants(grant, wrong);
    if (problems.length > 0 || (type !== 'person' && type !== 'business')) return { problems };
    const wanted = { tenantId: this.tenantId, type, name, grants: granted } as const;
    return {
      line,
      wanted: { ...wanted, alias: alias === '' ? null : alias, phone: phone === '' ? null : phone },
    };
  }

  /** `stored` is the canonical value, or null if absent or malformed, which opening reports. */
  private nameOnce(
    { number }: CsvLine,
    column: 'alias' | 'phone',
    stored: string | null,
    wrong: (column: string, code: string, message: string) => void,
  ): void {
    if (stored === null) return;
    const earlier = this.named.get(stored);
    if (earlier === undefined) this.named.set(stored, number);
    else wrong(column, 'duplicate_line', `line ${earlier} has this ${column} too`);
  }

  private readGrants(
    text: string,
    wrong: (column: string, code: string, message: string) => void,
  ): NewAccount['grants'] {
    const parsed = grants.safeParse(text);
    if (!parsed.success) {
      wrong('grant', 'invalid_field', parsed.error.issues[0]?.message ?? 'malformed');
      return [];
    }
    return parsed.data.flatMap(({ name, role }) => {
      const memberId = this.members.get(name);
      if (memberId !== undefined) return [{ memberId, role }];
      wrong('grant', 'unknown_member', `the tenant has no member ${name}`);
      return [];
    });
  }
}

/** Returns why a line's account was refused, as a problem for each column concerned. */
export function problemsOf(
  line: CsvLine,
  { code, message, details }: Refusal,
): readonly LineProblem[] {
  const fields = (details?.errors ?? [
    { code, field: 'alias', reason: message },
  ]) as readonly FieldProblem[];
  return fields.map(({ code: own, field, reason }) => {
    const column = field === 'grants' ? 'grant' : field;
    return {
      line: line.number,
      column,
      code: own,
      value: line.values[column] ?? '',
      message: reason,
    };
  });
}
