import { z } from 'zod';
import { declareVerification, DOCUMENT_NUMBER } from '../../accounts/verification.js';
import { isCountry } from '../../core/countries.js';
import { DOCUMENT_TYPES } from '../../db/entities/identity.js';
import { command, type Ops } from '../command.js';
import { UsageError } from '../failures.js';
import { findAccount } from '../finding.js';
import { flag, oneOf, option, optional, text, time, within, readStandardInput } from '../inputs.js';

const TYPES = DOCUMENT_TYPES.join(', ');

export const verificationCommand = command({
  usage: 'verify <account>',
  summary:
    'declare who is behind an account, so that it may send; repeated, it replaces the declaration',
  examples: [
    "accounts verify '$ana' --tenant acme --legal-name 'Ana María Pérez' --document-type CC --country CO",
    "accounts verify '$acme' --tenant acme --legal-name 'Acme S.A.S.' --document-type NIT --country CO --document-number-stdin < nit.txt",
  ],
  input: z.object({
    account: text,
    tenant: within,
    legalName: option('<name>', 'as in the document; never shown to anyone else'),
    documentType: option('<type>', TYPES, oneOf(DOCUMENT_TYPES)),
    documentNumber: optional(
      '<number>',
      '5 to 20 letters, digits, . and -; without it you are asked, which keeps it out of the history of your shell',
    ),
    documentNumberStdin: flag('read the number from standard input'),
    country: option(
      '<code>',
      'the country that issued the document: two capital letters, such as CO',
      z.string().refine(isCountry, 'must be the two capital letters of a country, such as CO'),
    ),
    declaredAt: option('<time>', 'when it was declared (default: now)', time.optional()),
  }),
  needs: 'manage',
  run: async (
    ops,
    { account: named, tenant, documentNumber: given, documentNumberStdin, ...declared },
  ) => {
    const { database, clock } = ops;
    const encryptionKeys = ops.encryptionKeys();
    const account = await findAccount(database.reader, { account: named, tenant });
    const documentNumber = await readDocumentNumber(ops, given, documentNumberStdin);
    const answer = await declareVerification(
      { database, clock, encryptionKeys },
      account.id,
      {
        type: account.type === 'person' ? 'person' : 'business',
        legalName: declared.legalName,
        documentType: declared.documentType,
        documentNumber,
        country: declared.country,
        declaredAt: declared.declaredAt ?? null,
      },
      ops.actor(),
    );
    ops.output.one({ name: account.name, ...answer });
    if (account.verifiedAt !== null)
      ops.output.say('It was verified already: the declaration was replaced.');
  },
});

const HOW = '--document-number or --document-number-stdin is required without a terminal';

/**
 * Read from exactly one place, and never repeated in a message, because it is the account holder's
 * secret.
 */
async function readDocumentNumber(
  { output }: Ops,
  given: string | undefined,
  fromStdin: boolean,
): Promise<string> {
  if (given !== undefined && fromStdin)
    throw new UsageError('give either --document-number or --document-number-stdin');
  const number =
    given ?? (fromStdin ? await readStandardInput() : await output.ask('Document number', HOW));
  if (!DOCUMENT_NUMBER.test(number))
    throw new UsageError('the document number must be 5 to 20 letters, digits, . and -');
  return number;
}
