/** The pages of the site for tenants, in reading order. A new page is one more line here. */

type MadePage = 'reference' | 'errors' | 'permissions';

export interface Listed {
  /**
   * The path below the docs' own path; '' is the first page. Paths are published: errors and
   * bookmarks use them.
   */
  readonly path: string;
  /** A file of the repository that begins with its title, or a generated page with its title. */
  readonly from: string | { readonly made: MadePage; readonly title: string };
  /** The purpose of the page, in half a sentence. */
  readonly about: string;
  /** Other words for the subject, which the search finds. */
  readonly also?: string;
}

interface Chapter {
  readonly title: string;
  readonly pages: readonly Listed[];
}

/** Further addresses of a page, for people who type them. */
export const ALIASES: Readonly<Record<string, readonly string[]>> = {
  '/conceptos/errores': ['/errors'],
};

export const CONTENTS: readonly Chapter[] = [
  {
    title: 'Get started',
    pages: [
      {
        path: '',
        from: 'docs/guides/index.md',
        about: 'what the service does, and where to start',
      },
      {
        path: '/concepts',
        from: 'docs/guides/concepts.md',
        about: 'accounts, members, networks, and how money enters',
        also: 'currency deposit top up fund glossary onboarding user customer',
      },
      {
        path: '/first-transfer',
        from: 'docs/guides/first-transfer.md',
        about: 'from a token to money that has moved',
        also: 'authentication authorization api key bearer sandbox test mode quickstart getting started',
      },
      {
        path: '/idempotency',
        from: 'docs/guides/idempotency.md',
        about: 'repeat a request safely, and learn its outcome',
        also: 'retry timeout duplicate',
      },
      {
        path: '/clients',
        from: 'docs/guides/clients.md',
        about: 'a typed client, deliveries on your machine, Postman',
        also: 'sdk library node javascript localhost tunnel',
      },
      {
        path: '/going-live',
        from: 'docs/guides/going-live.md',
        about: 'what to check before the first real payment',
        also: 'production launch checklist sandbox',
      },
    ],
  },
  {
    title: 'Move money',
    pages: [
      {
        path: '/accounts',
        from: 'docs/guides/accounts.md',
        about: 'verification, aliases, and who may do what',
        also: 'kyc wallet user onboarding',
      },
      {
        path: '/approvals',
        from: 'docs/guides/approvals.md',
        about: 'transfers and payouts that wait for other members',
        also: 'cancel reverse maker checker four eyes',
      },
      {
        path: '/bonus',
        from: 'docs/guides/bonus.md',
        about: 'pay one person at once',
        also: 'refund reverse undo',
      },
      {
        path: '/batches',
        from: 'docs/guides/batches.md',
        about: 'pay up to 100,000 people from one file',
        also: 'payroll salary csv excel bulk mass payment',
      },
      {
        path: '/payouts',
        from: 'docs/guides/payouts.md',
        about: 'money to a bank account, and its possible outcomes',
        also: 'withdraw bank refund reverse return chargeback',
      },
    ],
  },
  {
    title: 'Get notified',
    pages: [
      {
        path: '/webhooks',
        from: 'docs/webhooks.md',
        about: 'receive and verify deliveries, in five languages',
        also: 'callback notification signature hmac',
      },
      {
        path: '/events',
        from: 'docs/guides/events.md',
        about: 'every type of event, and the log that holds them',
      },
    ],
  },
  {
    title: 'Keep books',
    pages: [
      {
        path: '/statements',
        from: 'docs/guides/statements.md',
        about: 'movements of a period as CSV and XLSX, and past balances',
        also: 'report export download balance history',
      },
      {
        path: '/reconciliation',
        from: 'docs/guides/reconciliation.md',
        about: 'keep your books equal to the ledger',
        also: 'bookkeeping accounting reconcile audit',
      },
    ],
  },
  {
    title: 'Look up',
    pages: [
      {
        path: '/reference',
        from: { made: 'reference', title: 'Reference' },
        about: 'every operation, with its fields, its errors and samples in four languages',
      },
      {
        path: '/conceptos/errores',
        from: { made: 'errors', title: 'Errors' },
        about: 'every code, what it means and what to do',
      },
      {
        path: '/permissions',
        from: { made: 'permissions', title: 'Permissions' },
        about: 'the scope and the role that an operation needs',
        also: 'authentication authorization access',
      },
      {
        path: '/limits',
        from: 'docs/guides/limits.md',
        about: 'amounts, months, fees, rates and quotas',
        also: 'throttling rate limit quota pricing',
      },
      {
        path: '/conventions',
        from: 'docs/guides/conventions.md',
        about: 'amounts, times, text, pages and cursors',
        also: 'pagination paging currency date timezone format',
      },
      {
        path: '/versions',
        from: 'docs/guides/versions.md',
        about: 'how the API changes, and how it does not',
        also: 'deprecation compatibility',
      },
      {
        path: '/changelog',
        from: 'docs/guides/changelog.md',
        about: 'what has changed for tenants',
      },
    ],
  },
];
