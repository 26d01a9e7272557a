/** Chapters and their pages in reading order: descriptions by path. Paths are public: keep them. */
const CHAPTERS = {
  'Get started': {
    '': 'what the service does, and where to start',
    '/first-transfer': 'from a token to money that has moved',
    '/concepts': 'accounts, members, networks, and how money enters',
    '/idempotency': 'repeat a request safely, and learn its outcome',
    '/clients': 'a typed client, deliveries on your machine, Postman',
    '/testing': 'test accounts, and how to provoke each outcome',
    '/going-live': 'what to check before the first real payment',
  },
  'Move money': {
    '/accounts': 'verification, aliases, and who may do what',
    '/access': 'your own accounts, members, roles and tokens',
    '/approvals': 'transfers and payouts that wait for other members',
    '/capture': 'hold an amount when a customer orders, and take what you delivered',
    '/refunds': 'send back what an account received, in whole or in parts',
    '/schedules': 'a transfer that is made later, once or every month',
    '/bonus': 'pay one person at once',
    '/batches': 'pay up to 100,000 people from one file',
    '/payouts': 'money to a bank account, and its possible outcomes',
    '/keys': 'pay a phone, document or alias in Colombia, and know whom',
    '/payout-batches': 'pay up to 100,000 bank accounts from one file',
    '/metadata': 'your own data on payments, and finding them by it',
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
    '/errors': 'every code, what it means and what to do',
    '/permissions': 'tokens, and the scope and the role that an operation needs',
    '/limits': 'amounts, months, fees, rates and quotas',
    '/conventions': 'amounts, times, text, pages and cursors',
    '/versions': 'how the API changes, and how it does not',
    '/changelog': 'what has changed for tenants',
  },
};

/** Further words by which the search finds a page, or a section of it by its anchor. */
export const KEYWORDS: Readonly<Record<string, string>> = {
  '/concepts': 'currency multiple multi usd dollar peso glossary user customer',
  '/concepts#scopes': 'scope permission list',
  '/concepts#roles': 'role',
  '/concepts#who-opens-accounts': 'onboarding create open account',
  '/concepts#giving-money-back': 'undo transfer payment take back revoke',
  '/concepts#networks': 'network other tenant initech emil shared alias',
  '/concepts#no-currency-exchange': 'convert conversion fx forex foreign swap',
  '/concepts#how-money-enters-and-leaves': 'deposit pay in payin cash in top up topup fund',
  '/first-transfer': 'transfer send money quickstart getting started hello world',
  '/first-transfer#your-token': 'api key log in login',
  '/first-transfer#your-accounts': 'whoami who am i me current user',
  '/idempotency': 'retry duplicate double payment exactly once',
  '/idempotency#what-the-same-request-is': 'idempotency key expiry expire ttl after 24 hours',
  '/idempotency#when-you-do-not-know': 'retry timeout 503',
  '/clients#the-typed-client': 'sdk library install npm node javascript download',
  '/clients#other-languages-and-postman':
    'sdk python go java kotlin c csharp dotnet net php ruby rust generate',
  '/clients#deliveries-on-your-own-machine': 'localhost local development tunnel ngrok',
  '/testing':
    'test card test account numbers simulate simulation simulator sandbox test mode mock without real money',
  '/going-live': 'production launch checklist',
  '/going-live#ask-your-operator': 'sla',
  '/accounts': 'wallet delete close deactivate rename change account name',
  '/access':
    'onboarding create account user permission share api key rotate leaked revoke sub accounts subaccount',
  '/access#get-me': 'whoami who am i v1 me my tenant current user list roles scopes',
  '/access#audit-log': 'audit trail history who changed',
  '/accounts#verify': 'kyc',
  '/approvals': 'maker checker four eyes',
  '/approvals#what-waits-for-your-approval': 'list pending approval',
  '/approvals#how-it-ends': 'state status of a transfer lifecycle diagram machine',
  '/approvals#rejections': 'rejection code',
  '/capture': 'partial capture hold expired reserve authorize authorization preauthorization',
  '/refunds': 'partial refund give back reverse reversal undo payment',
  '/schedules#schedule-it': 'daylight saving dst summer time clocks',
  '/schedules': 'recurring standing order subscription repeat cron daily weekly monthly',
  '/bonus': 'bonus',
  '/batches': 'payroll salary bulk mass payment',
  '/batches#the-file': 'csv excel',
  '/batches#withdraw-or-lapse': 'cancel',
  '/batches#the-result-file': 'download',
  '/payouts': 'withdraw withdrawal bank account beneficiary wire transfer ach swift',
  '/payouts#failures': 'failing failed failure reason code approval_expired',
  '/payouts#how-long-it-takes': 'cutoff hours weekend',
  '/payouts#states': 'return returned chargeback dispute',
  '/keys': 'bre-b breb instant payment phone number alias llave',
  '/payout-batches': 'supplier vendor bulk mass payment accounts payable',
  '/payout-batches#the-file': 'csv excel',
  '/metadata': 'label tag custom field invoice order number',
  '/webhooks': 'webhook callback notification',
  '/webhooks#what-arrives': 'ip addresses firewall',
  '/webhooks#responses-and-retries': 'webhook backoff',
  '/webhooks#without-a-response': 'webhook',
  '/webhooks#the-same-event-can-arrive-twice': 'duplicated deduplicate',
  '/webhooks#verify-before-you-read': 'signature hmac raw body replay attack',
  '/events#the-catalogue': 'types',
  '/events#follow-the-log': 'polling stream',
  '/statements': 'report export download history',
  '/statements#other-reports': 'balance',
  '/reconciliation': 'movements bookkeeping accounting reconcile',
  '/reconciliation#what-a-movement-has': 'movement kind type related',
  '/reference': 'openapi swagger curl python go',
  '/errors': 'error codes status http 400 404 409 422 503',
  '/errors#unauthorized': '401',
  '/permissions': 'scope role',
  '/permissions#authentication':
    'authenticate authorization access bearer oauth 403 ip allowlist me',
  '/limits#amounts': 'monthly limit minimum maximum raise increase',
  '/limits#fees': 'pricing rounding',
  '/limits#requests': 'throttling rate limit 429',
  '/limits#sizes': 'quota maximum largest file size upload',
  '/limits#how-long-things-are-kept': 'data retention delete deletion privacy',
  '/conventions#requests-and-responses': 'contact help support',
  '/conventions#what-became-of-a-request': 'request id',
  '/conventions#pages': 'pagination paging limit parameter page size sort sorting order',
  '/conventions#filters': 'filter date range',
  '/conventions#amounts': 'decimal cents',
  '/conventions#times-ids-text': 'timezone time zone utc offset format',
  '/versions': 'deprecation deprecated breaking change compatibility version header',
};

/** The Markdown files of pages whose file is not `docs/guides` with the page's path. */
const FILES: Readonly<Record<string, string>> = {
  '': 'docs/guides/index.md',
  '/webhooks': 'docs/webhooks.md',
};

export const ALIASES: Readonly<Record<string, readonly string[]>> = {
  '/reference': ['/reference/objects'],
  // The name in every `doc_url`.
  '/errors': ['/conceptos/errores'],
};

export interface Listed {
  /** The path below the docs' own; '' is the first page. */
  readonly path: string;
  readonly description: string;
  /** The Markdown file, which begins with the title. Generated pages have none. */
  readonly file: string;
}

export const CONTENTS = Object.entries(CHAPTERS).map(([title, pages]) => ({
  title,
  pages: Object.entries(pages).map(([path, description]): Listed => ({
    path,
    description,
    file: FILES[path] ?? `docs/guides${path}.md`,
  })),
}));
