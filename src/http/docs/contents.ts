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
}

interface Chapter {
  readonly title: string;
  readonly pages: readonly Listed[];
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
      {
        path: '/first-transfer',
        from: 'docs/guides/first-transfer.md',
        about: 'from a token to money that has moved',
      },
      {
        path: '/idempotency',
        from: 'docs/guides/idempotency.md',
        about: 'repeat a request safely, and learn its outcome',
      },
      {
        path: '/clients',
        from: 'docs/guides/clients.md',
        about: 'a typed client, deliveries on your machine, Postman',
      },
    ],
  },
  {
    title: 'Move money',
    pages: [
      {
        path: '/approvals',
        from: 'docs/guides/approvals.md',
        about: 'transfers and payouts that wait for other members',
      },
      {
        path: '/batches',
        from: 'docs/guides/batches.md',
        about: 'pay up to 100,000 people from one file',
      },
      {
        path: '/payouts',
        from: 'docs/guides/payouts.md',
        about: 'money to a bank account, and its possible outcomes',
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
      },
      {
        path: '/events',
        from: 'docs/guides/events.md',
        about: 'every type of event, and the log that holds them',
      },
    ],
  },
  {
    title: 'Look up',
    pages: [
      {
        path: '/reference',
        from: { made: 'reference', title: 'Reference' },
        about: 'every operation, with its scope, its role and its errors',
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
      },
      {
        path: '/limits',
        from: 'docs/guides/limits.md',
        about: 'amounts, months, fees, rates and quotas',
      },
      {
        path: '/conventions',
        from: 'docs/guides/conventions.md',
        about: 'amounts, times, text, pages and cursors',
      },
      {
        path: '/versions',
        from: 'docs/guides/versions.md',
        about: 'how the API changes, and how it does not',
      },
      {
        path: '/changelog',
        from: 'docs/guides/changelog.md',
        about: 'what has changed for tenants',
      },
    ],
  },
];
