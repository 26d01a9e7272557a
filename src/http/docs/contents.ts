/** The pages of the site, in reading order. */

type MadePage = 'reference' | 'errors' | 'permissions';

export interface Listed {
  /** The path below the docs' own; '' is the first page. Paths are published. */
  readonly path: string;
  /** A Markdown file that begins with its title, or a generated page. */
  readonly from: string | { readonly made: MadePage; readonly title: string };
  readonly about: string;
  readonly also?: string;
}

interface Chapter {
  readonly title: string;
  readonly pages: readonly Listed[];
}

export const ALIASES: Readonly<Record<string, readonly string[]>> = {
  '/conceptos/errores': ['/errors'],
};

/** Returns the page of `docs/guides` with the same name as its path. */
function guide(path: string, about: string, also?: string): Listed {
  const from = `docs/guides${path}.md`;
  return also === undefined ? { path, from, about } : { path, from, about, also };
}

export const CONTENTS: readonly Chapter[] = [
  {
    title: 'Get started',
    pages: [
      {
        path: '',
        from: 'docs/guides/index.md',
        about: 'what the service does, and where to start',
      },
      guide(
        '/concepts',
        'accounts, members, networks, and how money enters',
        'currency deposit top up fund glossary onboarding user customer',
      ),
      guide(
        '/first-transfer',
        'from a token to money that has moved',
        'authentication authorization api key bearer sandbox test mode quickstart getting started',
      ),
      guide(
        '/idempotency',
        'repeat a request safely, and learn its outcome',
        'retry timeout duplicate',
      ),
      guide(
        '/clients',
        'a typed client, deliveries on your machine, Postman',
        'sdk library node javascript localhost tunnel',
      ),
      guide(
        '/going-live',
        'what to check before the first real payment',
        'production launch checklist sandbox',
      ),
    ],
  },
  {
    title: 'Move money',
    pages: [
      guide(
        '/accounts',
        'verification, aliases, and who may do what',
        'kyc wallet user onboarding',
      ),
      guide(
        '/approvals',
        'transfers and payouts that wait for other members',
        'cancel reverse maker checker four eyes',
      ),
      guide('/bonus', 'pay one person at once', 'refund reverse undo'),
      guide(
        '/batches',
        'pay up to 100,000 people from one file',
        'payroll salary csv excel bulk mass payment',
      ),
      guide(
        '/payouts',
        'money to a bank account, and its possible outcomes',
        'withdraw bank refund reverse return chargeback',
      ),
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
      guide('/events', 'every type of event, and the log that holds them'),
    ],
  },
  {
    title: 'Keep books',
    pages: [
      guide(
        '/statements',
        'movements of a period as CSV and XLSX, and past balances',
        'report export download balance history',
      ),
      guide(
        '/reconciliation',
        'keep your books equal to the ledger',
        'bookkeeping accounting reconcile audit',
      ),
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
      guide(
        '/limits',
        'amounts, months, fees, rates and quotas',
        'throttling rate limit quota pricing',
      ),
      guide(
        '/conventions',
        'amounts, times, text, pages and cursors',
        'pagination paging currency date timezone format',
      ),
      guide('/versions', 'how the API changes, and how it does not', 'deprecation compatibility'),
      guide('/changelog', 'what has changed for tenants'),
    ],
  },
];
