/** The sections of the API in a newcomer's reading order. `resource` is a word of the path. */
export const TAGS = [
  {
    resource: 'accounts',
    name: 'Accounts',
    description:
      'Who holds money: accounts, their balances, movements and limits, and finding a recipient.',
  },
  {
    resource: 'transfers',
    name: 'Transfers',
    description: 'Money from one account to another, at once or after approval.',
  },
  {
    resource: 'approval_policies',
    name: 'Approval policies',
    description: 'The amount from which transfers and payouts wait for other members.',
  },
  {
    resource: 'bonuses',
    name: 'Bonuses',
    description: 'Paying one person at once, with the fee itemised.',
  },
  {
    resource: 'bonus_batches',
    name: 'Bonus batches',
    description: 'Paying up to 100,000 people from a file: upload, review, execute.',
  },
  {
    resource: 'payouts',
    name: 'Payouts',
    description: 'Money to bank accounts, over the rail of their country.',
  },
  {
    resource: 'events',
    name: 'Events',
    description: 'The log of what happened: the source of truth behind the webhooks.',
  },
  {
    resource: 'webhook_endpoints',
    name: 'Webhook endpoints',
    description: 'Where signed notifications go, and what happened to them.',
  },
  {
    resource: 'statements',
    name: 'Statements',
    description:
      "An account's movements over a period, between two balances, as figures and as files.",
  },
  {
    resource: 'requests',
    name: 'Requests',
    description: 'The outcome of a request whose response was lost.',
  },
] as const;

/**
 * Returns the section of a path, by the last word that names one; a path without one of these words
 * is its own section.
 */
export function tagOf(path: string): string {
  const words = path.split('/').reverse();
  const resource = words.find((word) => TAGS.some((tag) => tag.resource === word));
  return TAGS.find((tag) => tag.resource === resource)?.name ?? path.split('/')[2] ?? '';
}
