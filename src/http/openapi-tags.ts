/** The sections of the API in reading order, each by a word of the paths. */
const DESCRIPTIONS = {
  accounts:
    'Who holds money: accounts, their balances, movements and limits, and finding a recipient.',
  transfers: 'Money from one account to another, at once or after approval.',
  approval_policies: 'The amount from which transfers and payouts wait for other members.',
  bonuses: 'Paying one person at once, with the fee itemised.',
  bonus_batches: 'Paying up to 100,000 people from a file: upload, review, execute.',
  payouts: 'Money to bank accounts, over the rail of their country.',
  events: 'The log of what happened: the source of truth behind the webhooks.',
  webhook_endpoints: 'Where signed notifications go, and what happened to them.',
  statements:
    "An account's movements over a period, between two balances, as figures and as files.",
  requests: 'What became of a request, by the `Svc-Request-Id` of its response.',
};

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

/** The last word that names a section decides. */
export function tagOf(path: string): string {
  const words = path.split('/').reverse();
  const resource = words.find((word) => TAGS.some((tag) => tag.resource === word));
  return TAGS.find((tag) => tag.resource === resource)?.name ?? path.split('/')[2] ?? '';
}
