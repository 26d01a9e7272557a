import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describeApi } from '../../scripts/docs/described-api.js';
import { ERROR_CODES } from '../../src/core/error-table.js';
import { type Permission, PERMISSIONS } from '../../src/core/permissions.js';
import { renderSite } from '../../scripts/docs/site/site.js';
import { ALIASES, CONTENTS, KEYWORDS } from '../../scripts/docs/site/contents.js';
import type { SiteUrls } from '../../scripts/docs/site/layout.js';
import type { Route } from '../../src/http/route.js';
import { codesOf } from '../../scripts/docs/openapi/generate.js';
import type { ApiDocument } from '../../scripts/docs/openapi/document.js';
import { markdownPage } from '../../scripts/docs/site/markdown-page.js';
import { filesUnder } from '../operating/pages.js';
import { linksOf } from './links.js';

const BASE = '/docs';
const MARKDOWN = 'https://docs.example';
/** The addresses of the site, each with its anchors. */
const ADDRESSES = 'test/docs/addresses.txt';
/** The scopes of a token with which all code of the guide runs. */
const GUIDE_SCOPES: Readonly<Record<string, string>> = {
  '/first-transfer': '`read`, `lookup` and `transfers`',
  '/idempotency': '`lookup` and `transfers`',
  '/accounts': '`transfers`',
  '/access': '`access`',
  '/approvals': '`lookup` and `transfers`',
  '/capture': '`lookup` and `transfers`',
  '/refunds': '`lookup` and `transfers`',
  '/schedules': '`lookup` and `transfers`',
  '/bonus': '`lookup` and `bonuses`',
  '/batches': '`lookup` and `bonuses`',
  '/payouts': '`lookup` and `payouts`',
  '/keys': '`lookup` and `payouts`',
  '/payout-batches': '`lookup` and `payouts`',
  '/metadata': '`lookup`, `transfers` and `bonuses`',
  '/webhooks': '`webhooks`',
  '/events': '`read`',
  '/statements': '`read` and `lookup`',
  '/reconciliation': '`read` and `lookup`',
  '/limits': '`read` and `lookup`',
  '/conventions': '`read`',
  '/versions': '`read`',
};

/** The objects of the reference, each with its page. */
const OBJECTS = [
  'accounts Account',
  'accounts Movement',
  'approval-policies ApprovalPolicy',
  'bonus-batches BonusBatch',
  'bonus-batches BonusBatchRow',
  'bonuses Bonus',
  'events Event',
  'members Member',
  'payout-batches PayoutBatch',
  'payout-batches PayoutBatchRow',
  'payouts Payout',
  'schedules Schedule',
  'statements Statement',
  'tokens Token',
  'transfers Transfer',
  'webhook-endpoints WebhookDelivery',
  'webhook-endpoints WebhookEndpoint',
].map((line) => `/reference/${line}`);

/** The names of the programs' languages in Markdown, and the endings of their files. */
const PROGRAM_LANGUAGES = [
  ['typescript', 'mts'],
  ['python', 'py'],
  ['go', 'go'],
] as const;
/** Parts of the requests that the samples of these guides send in every language. */
const GUIDE_REQUESTS = [
  ['/access', /name"?: ['"]accountant/, /cascade(=|: ')true/],
  ['/accounts', /\$carla-gomez/],
  ['/approvals', /2500000/],
  ['/capture', /350000/],
  ['/events', /next_?cursor/i],
  ['/first-transfer', /limit(=|: )100\b/],
  ['/payout-batches', /suppliers\.csv/],
  ['/refunds', /Two pairs of shoes/, /One pair returned/, /refund_of/],
  ['/schedules', /schedule(=|: ')0198/],
] as const satisfies readonly (readonly [path: string, ...requests: RegExp[]])[];
const URLS: SiteUrls = {
  page: (path) => BASE + path,
  markdown: (path) => `${MARKDOWN}${path || '/index'}.md`,
  asset: (name) => `${BASE}/assets/${name}`,
  openApi: '/openapi.json',
};

const api = await describeApi({});
const { pages, texts, assets } = renderSite({ ...api, urls: URLS });
const html = new Map(Array.from(pages, ([path, text]) => [URLS.page(path), text]));
const known = new Set([...html.keys(), ...Array.from(assets.keys(), URLS.asset), URLS.openApi]);

/** Returns the text of HTML. */
function textOf(text: string): string {
  const signs: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text
    .replace(/<[^>]*>/g, '')
    .replace(/&(lt|gt|quot|#39|#x27);/g, (_, name: string) => signs[name] ?? "'")
    .replaceAll('&amp;', '&');
}

function idsOf(text: string): string[] {
  return Array.from(text.matchAll(/ id="([^"]*)"/g), ([, id = '']) => id);
}

describe('the site', () => {
  for (const [path, text] of html) {
    it(`the page ${path} has no broken link, no repeated id, and no inline script or style`, () => {
      for (const link of linksOf(text)) {
        const [place = '', anchor] = link.split('#');
        assert.ok(place === '' || known.has(place), `there is no ${link}`);
        const there = place === '' ? text : (html.get(place) ?? '');
        if (anchor !== undefined) assert.ok(idsOf(there).includes(anchor), `there is no ${link}`);
      }
      assert.deepEqual(idsOf(text), [...new Set(idsOf(text))]);
      assert.doesNotMatch(text, /<script>|<style|\son\w+=|\sstyle=|javascript:/);
      assert.doesNotMatch(text, /127\.0\.0\.1:8080\/docs|undefined|\[object/);
    });
  }

  it('still has every address and every anchor that it has had', () => {
    const addresses = Array.from(known, (path) => [path, ...idsOf(html.get(path) ?? '').sort()]);
    if (process.env.RECORD_OUTPUTS !== undefined)
      writeFileSync(
        ADDRESSES,
        `${addresses
          .map((words) => words.join(' '))
          .sort()
          .join('\n')}\n`,
      );
    const current = new Map(addresses.map(([path, ...anchors]) => [path, anchors]));
    for (const line of readFileSync(ADDRESSES, 'utf8').trim().split('\n')) {
      const [path, ...anchors] = line.split(' ');
      const lost = anchors.filter((anchor) => current.get(path)?.includes(anchor) !== true);
      assert.ok(current.has(path), `there is no ${path}`);
      assert.deepEqual(lost, [], path);
    }
  });

  it('every page of the site is also Markdown under its address with .md, with the same headings and without broken links, that llms.txt lists and llms-full.txt contains', () => {
    const [list = '', whole = ''] = ['/llms.txt', '/llms-full.txt'].map((name) => texts.get(name));
    const aliases = new Set(Object.values(ALIASES).flat());
    for (const [path, page] of pages) {
      const text = texts.get(`${path || '/index'}.md`) ?? '';
      const plain = text.replaceAll(/[`\\]/g, '');
      for (const [, heading = ''] of page.matchAll(/<h[12](?: [^>]*)?>(?:<a [^>]*>)?(.*?)<\//g))
        assert.match(
          plain,
          new RegExp(`^#+ ${heading.replaceAll('<wbr />', '').split('<')[0]}`, 'm'),
          path,
        );
      assert.doesNotMatch(
        text,
        /127\.0\.0\.1:8080\/docs|undefined|\[object [A-Z]|^ *```\w+ /m,
        path,
      );
      assert.ok(aliases.has(path) || list.includes(`(${URLS.markdown(path)}): `), path);
      assert.ok(whole.includes(text), path);
      for (const [, place = ''] of text.matchAll(/\]\(https:\/\/docs\.example([^)#]*)/g))
        assert.ok(texts.has(place), `${path}: there is no ${place}`);
    }
  });

  it('shows each code block as its fence in Markdown, line by line', () => {
    for (const [path, page] of pages) {
      const shown = Array.from(page.matchAll(/<pre[^>]*>(.*?)<\/pre>/gs), ([, text = '']) =>
        textOf(text).trimEnd(),
      );
      const text = texts.get(`${path || '/index'}.md`) ?? '';
      for (const [, code = ''] of text.matchAll(/^```.*\n([^]*?)\n```$/gm))
        assert.ok(shown.includes(code.replaceAll('\r', '').trimEnd()), `${path}\n${code}`);
    }
  });

  it('lists every page once with its purpose, and each can be reached from the first', () => {
    const listed = CONTENTS.flatMap((chapter) => chapter.pages.map(({ path }) => path));
    assert.deepEqual(listed, [...new Set(listed)]);
    const reached = new Set<string>();
    const visit = (path: string): void => {
      const text = html.get(path);
      if (text === undefined || reached.has(path)) return;
      reached.add(path);
      for (const link of linksOf(text)) visit(link.split('#')[0] ?? '');
    };
    visit(BASE);
    const aliases = Object.values(ALIASES).flat().map(URLS.page);
    assert.deepEqual(
      [...html.keys()].filter((path) => !reached.has(path)),
      aliases,
    );
  });

  it('lists the resources of the reference in the menu of each of its pages, marks the current one, and opens its operations', () => {
    const resources = [...html.keys()].filter(
      (path) => path.startsWith('/docs/reference/') && path !== '/docs/reference/objects',
    );
    for (const path of ['/docs/reference', ...resources]) {
      const [, menu = ''] = /<nav id="menu"[^>]*>([^]*?)<\/nav>/.exec(html.get(path) ?? '') ?? [];
      const links = linksOf(menu);
      assert.deepEqual(
        links.filter((link) => link.startsWith('/docs/reference/')),
        resources,
      );
      const current = Array.from(menu.matchAll(/<a href="([^"]*)" aria-current="page">/g));
      assert.deepEqual(
        current.map(([, link]) => link),
        [path],
      );
      if (path !== '/docs/reference')
        assert.match(links[links.indexOf(path) + 1] ?? '', /^#\w/, path);
    }
    assert.doesNotMatch(
      html.get('/docs/refunds') ?? '',
      /<nav id="menu"[^]*reference\/[^]*<\/nav>\s*<main/,
    );
  });

  it('contains every page written for tenants', () => {
    const listed = CONTENTS.flatMap((chapter) => chapter.pages.map(({ file }) => file));
    for (const file of filesUnder('docs/guides')) assert.ok(listed.includes(file), file);
  });

  it("each entry of the site's search index leads to its page and section", () => {
    const index = JSON.parse(assets.get('search.json')?.toString() ?? '[]') as Record<
      string,
      string
    >[];
    assert.ok(index.length > 150, `${index.length} entries`);
    for (const { href = '', page, text } of index) {
      const [place = '', anchor] = href.split('#');
      assert.ok(html.has(place) && page !== '' && text !== undefined, href);
      if (anchor !== undefined) assert.ok(idsOf(html.get(place) ?? '').includes(anchor), href);
    }
    for (const place of Object.keys(KEYWORDS))
      assert.ok(
        index.some(({ href }) => href === URLS.page(place)),
        place,
      );
    for (const words of ['whsec_', 'ledger_unavailable', 'approve a transfer', 'payroll.csv'])
      assert.ok(
        index.some(({ title = '', text = '' }) => `${title} ${text}`.toLowerCase().includes(words)),
        words,
      );
  });

  it('has an anchor for every error code on the page of `doc_url` and on its English name', () => {
    for (const path of ['/docs/conceptos/errores', '/docs/errors'])
      assert.deepEqual(
        ERROR_CODES.filter((code) => !idsOf(html.get(path) ?? '').includes(code)),
        [],
      );
  });

  it('shows the requests of its guides in all languages of the reference', () => {
    for (const { file, path } of CONTENTS.flatMap((chapter) => chapter.pages)) {
      if (!existsSync(file)) continue;
      const text = html.get(URLS.page(path)) ?? '';
      for (const [, id] of readFileSync(file, 'utf8').matchAll(/^```sh (\w+)/gm))
        for (const name of ['curl', 'typescript', 'python', 'go'])
          assert.ok(text.includes(`for="${id}-${name}"`), `${file} ${id} ${name}`);
    }
  });

  it('says above the first command of each guide where its variables are set', () => {
    const page =
      /`http:\/\/[^`]*\/v1`[^]*\(https:\/\/docs\.example\/first-transfer\.md#your-token\)/;
    for (const { file, path } of CONTENTS.flatMap((chapter) => chapter.pages)) {
      const [before = '', command] = texts.get(`${path}.md`)?.split(/^```sh$/m) ?? [];
      if (command === undefined || !existsSync(file)) continue;
      assert.match(before, path === '/first-transfer' ? /set `SVC_URL`/ : page, path);
    }
  });

  it('shows in every language the request of a guide, not the example of its operation', () => {
    for (const [path, ...requests] of GUIDE_REQUESTS)
      for (const request of requests)
        for (const [language] of PROGRAM_LANGUAGES) {
          const samples = texts.get(`${path}.md`)?.split(`\n\`\`\`${language}\n`).slice(1) ?? [];
          assert.ok(
            samples.some((sample) => request.test(sample.split('\n```\n')[0] ?? '')),
            `${path} ${language} ${request}`,
          );
        }
  });

  it('uploads a payroll in the samples of bonuses, and suppliers in those of payouts', () => {
    for (const [page, file] of [
      ['bonus-batches', 'payroll'],
      ['payout-batches', 'suppliers'],
    ] as const) {
      const files = texts.get(`/reference/${page}.md`)?.match(/\w+(?=\.csv["'\s])/g) ?? [];
      assert.deepEqual(new Set(files), new Set([file, 'file']), page);
    }
  });

  it('stores each idempotency key before the request, and ends each poll, in the samples of its guides', () => {
    const unstored = /\$\(uuidgen\)/;
    const endless = /^while .*\bsleep|^until svc/m;
    for (const file of [...filesUnder('docs/guides'), 'docs/webhooks.md']) {
      const text = readFileSync(file, 'utf8');
      for (const [, code = ''] of text.matchAll(/^```sh.*\n([^]*?)^```$/gm)) {
        assert.doesNotMatch(code, unstored, file);
        assert.doesNotMatch(code, endless, file);
      }
    }
    for (const file of filesUnder('docs/site/programs')) {
      const text = readFileSync(file, 'utf8');
      const makesKey = /uuid4\(\)|randomUUID\(\)|rand\.Read/.test(text);
      // A second statement does no harm.
      if (makesKey && !file.includes('/statements.'))
        assert.match(text, /fsync|flush: true|\.Sync\(\)/, file);
    }
  });

  it('shows no backslash in code of the texts about errors', () => {
    const path = '/errors';
    assert.match(texts.get(`${path}.md`) ?? '', /`ends_at`[^]*\\_\\_proto/);
    assert.doesNotMatch(html.get(`/docs${path}`) ?? '', /\\/);
  });

  it('has the programs of its guides also in Markdown, in every language', () => {
    for (const { file, path } of CONTENTS.flatMap((chapter) => chapter.pages)) {
      if (!existsSync(file)) continue;
      const text = texts.get(`${path || '/index'}.md`) ?? '';
      const guide = readFileSync(file, 'utf8');
      for (const [, program] of guide.matchAll(/^```sh \w+ (\S+)/gm))
        for (const [language, ending] of PROGRAM_LANGUAGES) {
          const code = readFileSync(`docs/site/programs/${program}.${ending}`, 'utf8').trimEnd();
          assert.ok(text.includes(`\n\`\`\`${language}\n${code}\n\`\`\`\n`), `${path} ${language}`);
        }
      const samples = [...guide.matchAll(/^```sh \w/gm)].length;
      for (const [language] of PROGRAM_LANGUAGES)
        assert.ok(text.split(`\n\`\`\`${language}\n`).length > samples, `${path} ${language}`);
    }
  });

  it('names the scopes that the commands and programs of each guide need', () => {
    const named = CONTENTS.flatMap(({ pages }) => pages).flatMap(({ path }) => {
      const text = texts.get(`${path || '/index'}.md`) ?? '';
      const [, scopes] = /(?:The token|This page) needs the scopes? (.*)\.$/m.exec(text) ?? [];
      return scopes === undefined ? [] : [[path, scopes]];
    });
    assert.deepEqual(Object.fromEntries(named), GUIDE_SCOPES);
  });

  it('shows which fields belong to which kind of destination of a payout, and which each requires', () => {
    const path = '/reference/payouts';
    const lines = texts.get(`${path}.md`)?.split('\n') ?? [];
    const marksOf = (field: string) =>
      lines.flatMap((line) =>
        line.startsWith(`- \`destination.${field}\` (`) ? [line.split('): ')[0] ?? line] : [],
      );
    // The object is shown above the requests.
    const [shown, created] = marksOf('holder_name');
    assert.match(created ?? '', /, required with `type: bank_account`$/);
    assert.match(shown ?? '', /, only with `type: bank_account`$/);
    assert.match(marksOf('key').at(-1) ?? '', /, required with `type: bre_b_key`$/);
    assert.match(marksOf('holder_check').at(-1) ?? '', /, only with `type: bre_b_key`$/);
    assert.match(marksOf('type').at(-1) ?? '', /`bank_account`, `bre_b_key`, required$/);
    assert.ok(lines.every((line) => !/destination\.type`.*Always/.test(line)));
    const page = html.get(`/docs${path}`)?.replaceAll('<wbr />', '') ?? '';
    assert.ok(page.includes('required with <code>type: bre_b_key</code>'));
  });

  it('cannot be built if a page links to a missing page', () => {
    const listed = { path: '/x', file: 'docs/architecture.md', description: '' };
    assert.throws(
      () =>
        markdownPage(listed, URLS, api.baseUrl, {
          inAllLanguages: (_, command) => command,
          inMarkdown: () => '',
          scopesOf: () => [],
        }),
      /which is not on the site/,
    );
  });
});

describe('the site of an API', () => {
  const document = api.openApi;

  /** The API with this many operations: copies of its own, each under another path and name. */
  function apiOf(count: number): { routes: Route[]; openApi: ApiDocument; names: string[] } {
    const copies = Array.from({ length: count }, (_, index) => {
      const route = api.routes[index % api.routes.length]!;
      const operation = document.paths[route.path]?.[route.method.toLowerCase() as 'get'];
      const path = `${route.path}/copy-${index}`;
      const operationId = `operation${index}`;
      const copied = { ...operation, operationId };
      return {
        route: { ...route, path, operationId },
        item: [path, { [route.method.toLowerCase()]: copied }] as const,
      };
    });
    const openApi = { ...api.openApi, paths: Object.fromEntries(copies.map(({ item }) => item)) };
    const names = copies.map((_, index) => `operation${index}`);
    return { routes: copies.map(({ route }) => route), openApi, names };
  }

  for (const count of [0, 1, 26, 1_000])
    it(`has every page with ${count} operations, and each operation in the reference and on its own page`, () => {
      const { names, ...many } = apiOf(count);
      const { pages: texts } = renderSite({ ...api, ...many, urls: URLS });
      for (const { path } of CONTENTS.flatMap((chapter) => chapter.pages))
        assert.ok(texts.has(path), path);
      for (const [path, text] of texts) {
        assert.deepEqual(idsOf(text), [...new Set(idsOf(text))], path);
        assert.doesNotMatch(text, /undefined|\[object/, path);
      }
      const described = Array.from(texts.values()).flatMap(idsOf);
      for (const name of names) assert.equal(described.filter((id) => id === name).length, 1, name);
      for (const path of ['/reference', '/permissions'])
        for (const name of names)
          assert.ok(texts.get(path)?.includes(`#${name}"`), `${path} ${name}`);
    });
});

describe('the reference', () => {
  const document = api.openApi;

  it('shows of each resource how to create it, read one, list and change it, and then the rest', () => {
    const orderOf = (page: string) =>
      Array.from(
        html.get(`/docs/reference/${page}`)?.matchAll(/<article id="(\w+)"/g) ?? [],
        ([, id]) => id,
      );
    for (const [page, ...first] of [
      ['accounts', 'openAccount', 'getAccount', 'listAccounts', 'updateAccount'],
      ['approval-policies', 'setApprovalPolicy', 'getApprovalPolicy', 'deleteApprovalPolicy'],
      ['bonus-batches', 'uploadBonusBatch', 'getBonusBatch', 'listBonusBatches'],
      ['bonuses', 'createBonus', 'getBonus', 'listBonuses', 'updateBonus', 'refundBonus'],
      ['tokens', 'createToken', 'listTokens', 'deleteToken'],
      ['transfers', 'createTransfer', 'getTransfer', 'listTransfers', 'updateTransfer'],
    ] as const)
      assert.deepEqual(orderOf(page).slice(0, first.length), first);
  });

  it('describes each object once, in the first group that returns it, with an example and the meaning of each state', () => {
    const described = Array.from(texts, ([path, text]) =>
      Array.from(text.matchAll(/^## The (\w+) object\n([^]*?)(?=^## )/gm), ([, name, about]) => ({
        path,
        name: name ?? '',
        about: about ?? '',
      })),
    ).flat();
    const found = described.flatMap(({ path, name }) =>
      path.startsWith('/reference/') ? [`${path.replace('.md', '')} ${name}`] : [],
    );
    assert.deepEqual(found.sort(), OBJECTS);
    for (const { name, about } of described) {
      const [, example = ''] = /```json\n([^]*?)\n```/.exec(about) ?? [];
      const fields = Object.keys(document.components.schemas[name]?.properties ?? {});
      for (const field of fields)
        assert.ok(about.includes(`\n- \`${field}\` (`), `${name} ${field}`);
      for (const field of Object.keys(JSON.parse(example) as object))
        assert.ok(about.includes(`\n- \`${field}\` (`), `${name} ${field}`);
      const states = document.components.schemas[name]?.properties?.status?.enum ?? [];
      for (const state of states.length === 1 ? [] : states)
        assert.match(about, new RegExp(`^  - \`${String(state)}\`: \\w`, 'm'), name);
    }
  });

  it('links the object in operations, lists and events, in place of its fields', () => {
    const text = (path: string) => texts.get(`/reference/${path}.md`) ?? '';
    const link = `[\`Transfer\`](${URLS.markdown('/reference/transfers')}#transfer-object)`;
    assert.ok(text('transfers').includes(`- \`200\` The result. ${link}`));
    assert.ok(text('transfers').includes(`- \`items\` (list of ${link}): `));
    assert.ok(text('bonuses').includes(`- \`201\` Created. ${link}`));
    assert.ok(text('deliveries').includes(`\`data.object\`: ${link}.`));
    const amount = `[\`Amount\`](${URLS.markdown('/conventions')}#amounts)`;
    assert.ok(text('transfers').includes(`\n- \`amount\` (${amount}): The amount `));
    assert.match(text('transfers'), /\n- `amount\.raw` \(string, int64, required\)/);
    assert.match(text('deliveries'), /BonusBatch`\]\([^)]*\) without `funding`, /);
    assert.match(text('webhook-endpoints'), /- `…` \(\[`WebhookEndpoint`\][^]*- `secret` \(/);
    for (const [path, field] of [
      ['transfers', 'capture_expires_at'],
      ['bonuses', 'capture_expires_at'],
      ['deliveries', 'captured'],
    ] as const) {
      const times = text(path).split(`\n- \`${field}\` (`).length - 1;
      assert.equal(times, path === 'transfers' ? 1 : 0, path);
    }
  });

  const articles = new Map(
    Array.from(html.values()).flatMap((text) =>
      text
        .split('<article ')
        .map((article) => article.replaceAll('<wbr />', ''))
        .map((article) => [/^id="([^"]+)"/.exec(article)?.[1] ?? '', article] as const),
    ),
  );

  for (const route of api.routes) {
    const operation = document.paths[route.path]?.[route.method.toLowerCase() as 'get'];
    assert.ok(operation !== undefined);

    it(`shows of ${route.method} ${route.path} its scopes and its roles`, () => {
      const article = articles.get(operation.operationId) ?? '';
      assert.ok(article.includes(`<b>${route.method}</b> <code>${route.path}</code>`), article);
      const { scopes, roles, roleIn, rule }: Permission = PERMISSIONS[route.permits];
      const [needs = ''] = /<p>Scope: [\s\S]*?<\/p>/.exec(article) ?? [];
      const words = Array.from(needs.matchAll(/<code>(\w+)<\/code>/g), ([, word]) => word);
      assert.deepEqual(words, scopes);
      const role = roles === null ? '' : `Role in ${roleIn}: ${roles.join(', ')}`;
      for (const text of [role, rule ?? '']) assert.ok(needs.includes(text), needs);
    });

    it(`shows of ${route.method} ${route.path} its errors, its responses, and samples`, () => {
      const article = articles.get(operation.operationId) ?? '';
      for (const code of codesOf(route)) assert.ok(article.includes(`#${code}"`), code);
      for (const [status, schema] of Object.entries(route.responses)) {
        assert.ok(article.includes(`<code>${status}</code>`), status);
        if (schema !== null)
          assert.match(article, /<summary>Fields<\/summary>\s*<dl>|#[a-z-]+-object"><code>/);
      }
      const [, first] = /<p class="sample">Response (\d+)/.exec(article) ?? [];
      assert.ok(
        first !== '200' || !('201' in route.responses),
        'a replay is not the usual response',
      );
      for (const name of ['curl', 'TypeScript', 'Python', 'Go'])
        assert.ok(article.includes(`>${name}</label>`), name);
    });

    if (route.body === null || route.hasFile) continue;
    it(`gives ${route.method} ${route.path} an example that is accepted`, () => {
      const example = operation.requestBody?.content['application/json']?.example;
      const { error } = route.body?.safeParse(example) ?? {};
      assert.equal(error, undefined, `${JSON.stringify(example)}\n${error?.message}`);
      const article = articles.get(operation.operationId) ?? '';
      assert.ok(article.includes('--json'), article);
    });
  }
});
