import { z } from 'zod';
import { readGatewayKeys } from '../../src/config/config.js';
import { EXAMPLE_ASSET } from '../../src/core/amount.js';
import { parsedTextSchema } from '../../src/core/checked-text.js';
import { systemClock } from '../../src/core/instant.js';
import {
  keyTypeOf,
  type RecipientKey,
  SIMULATED_TERMS,
} from '../../src/payouts/rails/destinations.js';
import { localCommand } from '../../src/ops/command.js';
import { OpsError } from '../../src/ops/failures.js';
import { amount, asset, option, text, wholeNumber } from '../../src/ops/inputs.js';
import { seconds } from '../../src/ops/times.js';
import type { Fields } from '../../src/ops/fields.js';
import { checkGateway, type RuleResult } from '../gateway-check/check.js';

const DEFAULTS = {
  callbackPort: '9998',
  raw: '150000',
  asset: EXAMPLE_ASSET,
  country: 'CO',
  bankCode: '0007',
  // For the reference gateway: paid at once; accepted first and paid after 2 s.
  accountNumber: '4567891234099',
  laterAccountNumber: '4567891234006',
  wait: '60s',
} as const;

const recipientKey = parsedTextSchema((key): RecipientKey | null => {
  const keyType = keyTypeOf(SIMULATED_TERMS, key);
  return keyType === null ? null : { type: 'bre_b_key', keyType, key };
}, 'must be a document, phone, e-mail address, alias or merchant code');

export const gatewayCheckCommand = localCommand({
  summary:
    "check whether a gateway's test server follows docs/payout-rail.md: a line for each rule",
  explanation: `
For whoever writes a gateway: it asks the gateway's test server whatever docs/payout-rail.md rules, and says of each rule
whether it holds. Never name a server that moves money: it gets real orders, which it is to pay. The gateway signs with the keys
that PAYOUT_RAIL_KEYS has for the name, and calls back at http://127.0.0.1:<callback-port>/rails/<name>/callbacks.
Whether one key was paid twice is seen by its references and callbacks alone: compare your own books as well.
Needs no database. Ends with 0 where every rule holds, else with 1.`,
  examples: [
    'rails check --url http://127.0.0.1:9999 --name bank-a',
    'rails check --url http://127.0.0.1:9999 --name bank-a --key 3001112233 --unknown-key 3001112208',
    'rails check --url https://test.gateway.example --name bank-a --callback-port 9998 --yes --json',
  ],
  input: {
    url: option(
      '<url> where the test server is',
      z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
    ),
    name: option('<name> its name in PAYOUT_RAIL_KEYS'),
    callbackPort: option(
      `<port> the loopback port for its callbacks (default: ${DEFAULTS.callbackPort})`,
      wholeNumber(1, 65_535).default(Number(DEFAULTS.callbackPort)),
    ),
    raw: option(`<amount> of each order (default: ${DEFAULTS.raw})`, amount.prefault(DEFAULTS.raw)),
    asset: option(
      `<asset> of each order (default: ${DEFAULTS.asset})`,
      asset.default(DEFAULTS.asset),
    ),
    country: option(
      `<country> where the accounts are (default: ${DEFAULTS.country})`,
      text.default(DEFAULTS.country),
    ),
    bankCode: option(
      `<code> their bank (default: ${DEFAULTS.bankCode})`,
      text.default(DEFAULTS.bankCode),
    ),
    accountNumber: option(
      `<number> an account that is paid (default: ${DEFAULTS.accountNumber})`,
      text.default(DEFAULTS.accountNumber),
    ),
    laterAccountNumber: option(
      `<number> one that is paid a while after the order was accepted (default: ${DEFAULTS.laterAccountNumber})`,
      text.default(DEFAULTS.laterAccountNumber),
    ),
    key: option(
      '<key> a key of Bre-B that is held and paid, if the gateway takes keys',
      recipientKey.optional(),
    ),
    unknownKey: option('<key> a key that nobody holds', recipientKey.optional()),
    wait: option(
      `<time> how long to wait for later outcomes (default: ${DEFAULTS.wait})`,
      seconds(1, 3_600).default(60),
    ),
  },
  run: async (output, { url, name, callbackPort, raw: amountIn, asset: of, wait, ...named }) => {
    const keys = readGatewayKeys().get(name);
    if (keys === undefined) throw new OpsError(`PAYOUT_RAIL_KEYS has no key of ${name}`);
    await output.confirm(`Give orders to ${url}, which it pays`);
    const { key: heldKey, ...accounts } = named;
    const orders = { ...accounts, heldKey, amount: { raw: amountIn(of), asset: of } };
    const options = { url, name, keys, callbackPort, orders, waitMs: wait * 1_000 };
    const results = await checkGateway(options, systemClock, (result) =>
      output.each(resultFields(result), resultLine(result)),
    ).catch((failure: NodeJS.ErrnoException) => {
      if (failure.syscall !== 'listen') throw failure;
      throw new OpsError(`cannot listen on port ${callbackPort}: ${failure.code}`);
    });
    const failed = results.filter(({ passed }) => !passed).length;
    output.say(
      failed === 0
        ? `All ${results.length} rules hold.`
        : `${failed} of ${results.length} rules do not hold.`,
    );
    if (failed > 0) process.exitCode = 1;
  },
});

function resultFields({ rule: { name, rule: says, where }, passed, why }: RuleResult): Fields {
  return { rule: name, result: passed ? 'passed' : 'failed', says, why, where };
}

function resultLine({ rule: { name, rule: says, where }, passed, why }: RuleResult): string {
  const remark = why === null ? '' : `: ${why}`;
  return passed
    ? `passed  ${name.padEnd(14)} ${says}${remark}`
    : `FAILED  ${name.padEnd(14)} ${says}${remark} (${where})`;
}
