/** The part of the OpenAPI document that the docs read, and the sections of the API. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  /** The values of today; later processes may return others. */
  readonly 'x-extensible-enum'?: readonly unknown[];
  readonly description?: string;
  readonly example?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly properties?: Schemas;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly discriminator?: { readonly mapping: Readonly<Record<string, string>> };
}
export type Schemas = Readonly<Record<string, Schema>>;

export type Content = Readonly<
  Record<
    string,
    {
      readonly schema?: Schema;
      readonly example?: unknown;
    }
  >
>;

export interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Content }>
  >;
}

type Methods = Readonly<
  Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', DescribedOperation>>
>;

export interface ApiDocument {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Methods>>;
  readonly webhooks?: Readonly<Record<string, Methods>>;
  readonly components: {
    readonly schemas: Schemas;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

export function refName({ $ref }: Pick<Schema, '$ref'>): string | undefined {
  return $ref?.split('/').at(-1);
}

/** The sections of the API in reading order, each by a word of the paths. */
const DESCRIPTIONS = {
  accounts:
    'Who holds money: accounts, their balances, movements and limits, and finding a recipient.',
  members: 'Your people and programs, each with a role in some of the accounts.',
  tokens: 'What the programs of members authenticate with.',
  transfers: 'Money from one account to another, at once or after approval.',
  schedules: 'Transfers that are created later, once or again and again.',
  approval_policies: 'The amount from which transfers and payouts wait for other members.',
  bonuses: 'Paying one person at once, with the fee itemised.',
  bonus_batches: 'Paying up to 100,000 people from a file: upload, review, execute.',
  payouts: 'Money to bank accounts and Bre-B keys, over the rail of their country.',
  payout_recipients: "Who holds a key of Colombia's instant payments (Bre-B).",
  payout_batches: 'Paying up to 100,000 bank accounts from a file: upload, review, execute.',
  events: 'The log of what happened: the source of truth behind the webhooks.',
  webhook_endpoints: 'Where signed notifications go, and what happened to them.',
  statements:
    "An account's movements over a period, between two balances, as figures and as files.",
  requests: 'What became of a request, by the `Svc-Request-Id` of its response.',
};

/** Returns a document, as JSON, in which today's values of open enumerations are the only ones. */
export function ofToday(json: string): string {
  return json.replaceAll('"x-extensible-enum":', '"enum":');
}

/** Returns `Bonus batches` for `bonus_batches`. */
export function titleOf(word: string): string {
  const words = word.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const TAGS = Object.entries(DESCRIPTIONS).map(([resource, description]) => ({
  resource,
  name: titleOf(resource),
  description,
}));

/** Returns the section of a path, by the last of its words that names a section. */
export function tagOf(path: string): string {
  const words = path.split('/').reverse();
  const resource = words.find((word) => TAGS.some((tag) => tag.resource === word));
  return TAGS.find((tag) => tag.resource === resource)?.name ?? path.split('/')[2] ?? '';
}
