/** Chapters and their pages in reading order: descriptions by path. Paths are public: keep them. */
const CHAPTERS = {
  'Get started': {
    '': 'what the service does, and where to start',
    '/concepts': 'accounts, members, networks, and how money enters',
    '/first-transfer': 'from a token to money that has moved',
    '/idempotency': 'repeat a request safely, and learn its outcome',
    '/clients': 'a typed client, deliveries on your machine, Postman',
    '/going-live': 'what to check before the first real payment',
  },
  'Move money': {
    '/accounts': 'verification, aliases, and who may do what',
    '/approvals': 'transfers and payouts that wait for other members',
    '/bonus': 'pay one person at once',
    '/batches': 'pay up to 100,000 people from one file',
    '/payouts': 'money to a bank account, and its possible outcomes',
  },
  'Get notified': {
    '/webhooks': 'receive and verify deliveries, in five languages',
    '/events': 'every type of event, and the log that holds them',
  },
  'Keep books': {
    '/statements': 'movements of a period as CSV and XLSX, and past balances',
    '/reconciliation': 'keep your books equal to the ledger',
  },
  'Look up': {
    '/reference': 'every operation, with its fields, its errors and samples in four languages',
    '/conceptos/errores': 'every code, what it means and what to do',
    '/permissions': 'the scope and the role that an operation needs',
    '/limits': 'amounts, months, fees, rates and quotas',
    '/conventions': 'amounts, times, text, pages and cursors',
    '/versions': 'how the API changes, and how it does not',
    '/changelog': 'what has changed for tenants',
  },
};

/** Further words by which the search finds a page. */
const KEYWORDS: Readonly<Record<string, string>> = {
  '/concepts':
    'currency deposit pay in payin cash in top up topup fund glossary onboarding user customer metadata',
  '/first-transfer':
    'authentication authorization api key bearer log in login sandbox test mode quickstart getting started whoami',
  '/idempotency': 'retry timeout duplicate double payment',
  '/clients':
    'sdk library install node javascript localhost local development tunnel ngrok swagger',
  '/going-live': 'production launch checklist sandbox',
  '/accounts': 'kyc wallet user onboarding ip allowlist',
  '/approvals': 'cancel reverse maker checker four eyes',
  '/bonus': 'refund reverse undo',
  '/batches': 'payroll salary csv excel bulk mass payment',
  '/payouts': 'withdraw withdrawal bank beneficiary refund reverse return chargeback dispute',
  '/webhooks': 'callback notification signature hmac retry retries',
  '/events': 'types polling stream',
  '/statements': 'report export download history',
  '/reconciliation': 'bookkeeping accounting reconcile audit',
  '/reference': 'openapi swagger curl python go',
  '/conceptos/errores': 'error codes',
  '/permissions': 'authentication authorization access',
  '/limits': 'throttling rate limit 429 quota pricing',
  '/conventions':
    'pagination paging sort sorting order filter date range currency decimal cents timezone format contact help support',
  '/versions': 'deprecation compatibility',
};

/** Markdown files other than the one of docs/guides with the same name. */
const FILES: Readonly<Record<string, string>> = {
  '': 'docs/guides/index.md',
  '/webhooks': 'docs/webhooks.md',
};

export const ALIASES: Readonly<Record<string, readonly string[]>> = {
  '/conceptos/errores': ['/errors'],
};

export interface Listed {
  /** The path below the docs' own; '' is the first page. */
  readonly path: string;
  readonly description: string;
  readonly also: string | undefined;
  /** The Markdown file, which begins with the title. Generated pages have none. */
  readonly file: string;
}

export const CONTENTS = Object.entries(CHAPTERS).map(([title, pages]) => ({
  title,
  pages: Object.entries(pages).map(([path, description]): Listed => ({
    ...{ path, description, also: KEYWORDS[path] },
    file: FILES[path] ?? `docs/guides${path}.md`,
  })),
}));
