import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { BONUS_BATCHES } from '../../src/batches/kinds/bonus.js';
import { PAYOUT_SHEET } from '../../src/batches/kinds/payout.js';
import { PROBLEM_CODES } from '../../src/batches/validation/cells.js';
import { EXAMPLE_AMOUNTS, MAX_ROWS } from '../../src/batches/rules.js';
import {
  ASSET_NAMES,
  ASSETS,
  EXAMPLE_ASSET,
  formatAmount,
  LISTED_ASSETS,
} from '../../src/core/amount.js';
import { API_VERSIONS } from '../../src/core/api-version.js';
import { PERMISSIONS, ROLES } from '../../src/core/permissions.js';
import { EVENT_TYPES, SUBSCRIBABLE_TYPES } from '../../src/db/entities/events.js';
import { BATCH_STATUSES } from '../../src/db/entities/batches.js';
import { TRANSFER_STATUSES } from '../../src/db/entities/operations.js';
import { PAYOUT_STATUSES } from '../../src/db/entities/payouts.js';
import { SCHEDULE_STATUSES } from '../../src/db/entities/schedules.js';
import { STATEMENT_STATUSES } from '../../src/db/entities/statements.js';
import { RATE_CLASSES, type RateClass, RATE_CLASS_DEFAULTS } from '../../src/http/rate-limit.js';
import { TRANSFER_REJECTIONS } from '../../src/approvals/schemas.js';
import { ROW_FAILURES } from '../../src/batches/schemas-rows.js';
import { FAILURES } from '../../src/payouts/rails/rail.js';
import { PAYOUT_FAILURES } from '../../src/payouts/schemas-status.js';
import { describeApi } from '../../scripts/docs/described-api.js';
import { SCENARIOS } from '../../src/payouts/rails/simulated.js';
import { STATEMENT_COLUMNS } from '../../src/statements/statement-maker.js';
import { blockOf } from '../docs/blocks.js';
import { FAILURE_MEANINGS } from '../../src/webhooks/attempt.js';
import { PAGES, tableRows } from './pages.js';

/** Statements of the pages for tenants about the code. */

const BATCHES = 'docs/guides/batches.md';
const APPROVALS = 'docs/guides/approvals.md';
const PAYOUT_BATCHES = 'docs/guides/payout-batches.md';
const PAYOUTS = 'docs/guides/payouts.md';
const EVENTS = 'docs/guides/events.md';
const SCHEDULES = 'docs/guides/schedules.md';
const STATEMENTS = 'docs/guides/statements.md';
const LIMITS = 'docs/guides/limits.md';
/** The address of that page for the other guides. */
const LIMITS_LINK = LIMITS.split('/').at(-1) ?? '';

/** The meanings as `tableRows` shows them, without marks of code. */
function plain(meanings: Readonly<Record<string, string>>): Record<string, string> {
  const texts = Object.entries(meanings).map(([code, text]) => [code, text.replaceAll('`', '')]);
  return Object.fromEntries(texts) as Record<string, string>;
}

/** The rows of the table whose head begins with this. */
function rowsBelow(page: string, head: string): string[][] {
  const rows = tableRows(page);
  const begin = rows.findIndex(([first]) => first === head) + 2;
  assert.ok(begin > 1, `${page} has no table of ${head}`);
  const isOver = (_: unknown, index: number): boolean =>
    rows[index + begin + 1]?.[0]?.startsWith('---') === true;
  const end = rows.slice(begin).findIndex(isOver);
  return rows.slice(begin, end < 0 ? undefined : begin + end);
}

describe('the guides for tenants', () => {
  for (const [page, sheet] of [
    [BATCHES, BONUS_BATCHES.sheet],
    [PAYOUT_BATCHES, PAYOUT_SHEET],
  ] as const)
    it(`list every column of a file, whether it is required, and its description in the template: ${page}`, () => {
      const amount = formatAmount({ raw: 150_000n, asset: EXAMPLE_ASSET });
      assert.deepEqual(
        rowsBelow(page, 'Column'),
        sheet.columns.map(({ name, note, isRequired }) => [
          name,
          isRequired ? 'yes' : 'no',
          note
            .replace(EXAMPLE_AMOUNTS, amount)
            .replace(ASSET_NAMES, `An [asset](${LIMITS_LINK}#amounts)`),
        ]),
      );
      assert.ok(readFileSync(BATCHES, 'utf8').includes(`${MAX_ROWS.toLocaleString('en-US')} rows`));
    });

  it('list every column of a statement, in order', () => {
    assert.equal(
      rowsBelow(STATEMENTS, 'Column')
        .map(([names]) => names)
        .join(', '),
      STATEMENT_COLUMNS.map(({ name }) => name).join(', '),
    );
  });

  it('list every code of an errors file', () => {
    assert.deepEqual(
      rowsBelow(BATCHES, 'Code').map(([code]) => code),
      [...PROBLEM_CODES],
    );
  });

  it('list every state of a payout, and every failure with its text', () => {
    assert.deepEqual(
      rowsBelow(PAYOUTS, 'State')
        .map(([state]) => state)
        .sort(),
      [...PAYOUT_STATUSES].sort(),
    );
    assert.deepEqual(
      rowsBelow(PAYOUTS, 'failure.code').map(([code, meaning, remedy]) => [
        code,
        `${meaning}. ${remedy}`,
      ]),
      Object.entries(plain(PAYOUT_FAILURES)),
    );
  });

  for (const [page, head, meanings] of [
    [APPROVALS, 'rejection.code', TRANSFER_REJECTIONS],
    [BATCHES, 'failure.code of a row', ROW_FAILURES.bonus],
  ] as const)
    it(`list every ${head} with its meaning in the reference: ${page}`, () => {
      assert.deepEqual(
        rowsBelow(page, head).map(([code, meaning, remedy]) => [code, `${meaning}. ${remedy}`]),
        Object.entries(plain(meanings)),
      );
    });

  it('explain each reason for a webhook without a response as the reference does', () => {
    assert.deepEqual(
      rowsBelow('docs/webhooks.md', 'failure').map(([reason, meaning = '']) => [
        reason,
        meaning.charAt(0).toLowerCase() + meaning.slice(1, -1),
      ]),
      Object.entries(plain(FAILURE_MEANINGS)).map(([reason, meaning]) => [
        reason,
        meaning.charAt(0).toLowerCase() + meaning.slice(1),
      ]),
    );
  });

  it('say which codes of rows differ in a batch of payouts', () => {
    const text = readFileSync(PAYOUT_BATCHES, 'utf8').replaceAll(/\s+/g, ' ');
    const [meaning = ''] = ROW_FAILURES.payout.invalid_field?.split('. ') ?? [];
    assert.ok(text.includes(`\`invalid_field\` means: ${meaning}.`));
    const { not_found: missing, ...others } = ROW_FAILURES.bonus;
    assert.ok(missing !== undefined && text.includes('except that `not_found` cannot occur'));
    assert.deepEqual(Object.keys(ROW_FAILURES.payout), Object.keys(others));
  });

  for (const [page, begin, statuses] of [
    [APPROVALS, 'POST', TRANSFER_STATUSES],
    [BATCHES, 'validating', BATCH_STATUSES],
    [PAYOUTS, 'POST', PAYOUT_STATUSES],
    [SCHEDULES, 'POST', SCHEDULE_STATUSES],
    [STATEMENTS, 'POST', STATEMENT_STATUSES],
  ] as const)
    it(`draw every state: ${page}`, () => {
      const drawn = blockOf(page, 'text', begin).match(/(?<=[─►] )[a-z_]+\b(?!:)|^[a-z_]+/gm) ?? [];
      assert.deepEqual([...new Set(drawn)].sort(), [...statuses].sort());
    });

  it('list every scenario of the simulated rail', () => {
    assert.deepEqual(
      rowsBelow(PAYOUTS, 'Ending').map(([ending, meaning = '', states]) => [
        ending,
        Object.keys(FAILURES).find((code) => meaning.includes(code)) ?? null,
        states,
      ]),
      SCENARIOS.map(({ ending, steps }) => [
        ending ?? 'any other',
        steps.at(-1)?.failureCode ?? null,
        ['approved', 'in_progress', ...steps.map(({ status }) => status)].join(' → '),
      ]),
    );
  });

  it('list every type of event, and whether webhooks may have it', () => {
    const written = rowsBelow(EVENTS, 'Type').map(([type, , , isOffered]) => [type, isOffered]);
    const offered = (type: string): string =>
      SUBSCRIBABLE_TYPES.some((one) => one === type) ? 'yes' : 'no';
    assert.deepEqual(
      written,
      EVENT_TYPES.map((type) => [type, offered(type)]),
    );
  });

  it('give the limits of a person', () => {
    const head = tableRows(LIMITS).find(([first]) => first === 'Limit of a person') ?? [];
    const rows = new Map(rowsBelow(LIMITS, 'Limit of a person').map((row) => [row[0], row]));
    for (const asset of ASSETS)
      for (const name of ['minimum', 'maximum', 'month'] as const)
        assert.equal(
          rows.get(name)?.[head.indexOf(`${asset} raw`)],
          LISTED_ASSETS[asset].limits[name].toString(),
          `${name} of ${asset}`,
        );
  });

  it('list every rate class, its usual rate, and which operations count in it', async () => {
    const { routes } = await describeApi({});
    const countedIn = (one: RateClass): string[] =>
      routes
        .filter(({ rateClass }) => rateClass === one)
        .map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(
      rowsBelow(LIMITS, 'Class').map(([name, counted = '', rate]) => [
        name,
        counted.split(', ').sort(),
        rate,
      ]),
      RATE_CLASSES.map((one) => {
        const { rate, burst, seconds } = RATE_CLASS_DEFAULTS[one];
        return [
          one,
          one === 'requests' ? ['all other requests'] : countedIn(one).sort(),
          `${rate} a ${seconds === 1 ? 'second' : 'minute'}, ${burst} at once`,
        ];
      }),
    );
  });

  it('explain every role', () => {
    const roles = /^## Roles$(.*?)^## /ms.exec(
      readFileSync('docs/guides/concepts.md', 'utf8'),
    )?.[1];
    const explained = Array.from(roles?.matchAll(/^- An? `(\w+)`/gm) ?? [], ([, role]) => role);
    assert.deepEqual(explained.sort(), [...ROLES].sort());
  });

  it('and the reference name together only the roles that an operation requires together', async () => {
    const { routes } = await describeApi({});
    const texts = new Map(routes.map((route) => [route.operationId, route.description]));
    for (const page of PAGES.filter((one) => /guides|contract|webhooks/.test(one)))
      texts.set(page, readFileSync(page, 'utf8'));
    const required = Object.values(PERMISSIONS).map(({ roles }) => roles?.join());
    const role = `(?:an? |the )?\`?(?:${ROLES.join('|')})\`?`;
    const several = new RegExp(`\\b${role}(?:(?:,? or |, )${role})+`, 'gi');
    for (const [where, text] of texts)
      for (const [named] of text.replaceAll('\n', ' ').matchAll(several)) {
        const roles = ROLES.filter((one) => named.includes(one)).join();
        assert.ok(required.includes(roles), `${where}: "${named}" are the roles of no operation`);
      }
  });

  it('name every dated version of the API', () => {
    const text = readFileSync('docs/guides/versions.md', 'utf8');
    for (const version of API_VERSIONS) assert.ok(text.includes(`\`${version}\``), version);
  });
});
