// The arrows of the architecture. The layers are those of docs/architecture.md.
const { readFileSync } = require('node:fs');

/** The folders of the page's diagram by layers, the highest first. */
const diagram = readFileSync('docs/architecture.md', 'utf8')
  .split('\n## Layers\n')[1]
  .split('```')[1];
const LAYERS = diagram.split(/^─+$/m).map((layer) => layer.match(/^[a-z]+(?= {2})/gm) ?? []);
const pathOf = (folder) =>
  /^(workflows|activities)$/.test(folder) ? `^${folder}/` : `^src/${folder}/`;

/** A folder imports only folders of lower layers. */
const layerRules = LAYERS.flatMap((folders, number) =>
  folders.map((folder) => ({
    name: `${folder}-imports-lower-layers`,
    comment: 'docs/architecture.md (Layers) shows a folder above all folders that it imports.',
    severity: 'error',
    from: { path: pathOf(folder) },
    to: {
      path: LAYERS.slice(0, number + 1)
        .flat()
        .filter((other) => other !== folder)
        .map(pathOf)
        // Nothing is above the top folder; an empty list would match everything.
        .concat('^$'),
    },
  })),
);

/** Every folder of src but the rooms that know no feature, and those that know all. */
const FEATURE =
  '^src/(?!(?:core|config|db|http|ledger|temporal|spreadsheets|auditor|ops|support|processes)/)([^/]+)/';
/** What stands between HTTP and a feature, beside its routes: request schemas and presenters. */
const EDGE = '/(routes|schemas?|presenter)';

/** `from` reaches, of our own code, only what `to` names. */
const reachesOnly = (name, comment, from, to) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: {
    path: '^(src|development|workflows|activities|migrations|scripts|test|bench|packages)/',
    pathNot: to,
  },
});

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Whoever imports in a circle cannot be understood alone.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...layerRules,
    reachesOnly(
      'the-auditor-believes-the-tables',
      'What is audited has no part in it: no feature, and of the ledger not how it posts.',
      '^src/auditor/',
      ['^src/(auditor|db|core)/', '^src/ledger/database-clock\\.ts$'],
    ),
    {
      name: 'the-audited-know-no-auditor',
      comment:
        'Neither the ledger nor a feature imports what judges it; a restore is made good by an audit.',
      severity: 'error',
      from: { path: ['^src/ledger/', FEATURE], pathNot: '^src/restores/' },
      to: { path: '^src/auditor/' },
    },
    reachesOnly(
      'temporal-knows-no-feature',
      'temporal/ imports only db and core, and the shape of a row that the desk writes.',
      '^src/temporal/',
      ['^src/(temporal|db|core)/', '^src/ledger/writer/types'],
    ),
    {
      ...reachesOnly(
        'workflows-are-deterministic',
        'Workflows reach contracts, rules and pure core; of activities the types alone.',
        '^workflows/',
        ['^workflows/', '^src/temporal/contracts', '^src/core/', '/rules(/|\\.ts$)'],
      ),
      to: {
        path: '^(src|activities|migrations|scripts|test|bench)/',
        pathNot: ['^src/temporal/contracts', '^src/core/', '/rules(/|\\.ts$)'],
        dependencyTypesNot: ['type-only'],
      },
    },
    reachesOnly(
      'activities-call-services',
      'An activity calls one function of a feature.',
      '^activities/',
      ['^activities/', '^src/.+/'],
    ),
    reachesOnly(
      'spreadsheets-know-no-feature',
      'spreadsheets/ reads, writes and stores tables: only db and core.',
      '^src/spreadsheets/',
      ['^src/(spreadsheets|db|core)/'],
    ),
    reachesOnly('http-knows-no-feature', 'http/ imports only db and core.', '^src/http/', [
      '^src/(http|db|core)/',
    ]),
    {
      name: 'the-desk-is-a-door',
      comment:
        'Only the program and the command line reach the support desk, and the latter only what it reads.',
      severity: 'error',
      from: { path: '^(src|workflows|activities)/', pathNot: '^src/(support|processes)/' },
      to: { path: '^src/support/', pathNot: '^src/support/reading/' },
    },
    {
      name: 'what-the-desk-reads-is-no-page',
      comment: 'reading/ is for the command line too: it knows no page, no form and no HTTP.',
      severity: 'error',
      from: { path: '^src/support/reading/' },
      to: { path: ['^src/support/', '^src/http/'], pathNot: '^src/support/reading/' },
    },
    reachesOnly(
      'migrations-stand-alone',
      'A migration reaches the database helpers and nothing that changes later.',
      '^migrations/',
      ['^migrations/', '^src/db/'],
    ),
    reachesOnly(
      'routes-reach-their-own-service',
      'Routes import http, spreadsheets, their own feature, and what approvals and operations have in common.',
      `${FEATURE}routes`,
      [
        '^src/$1/',
        '^src/(http|spreadsheets|core)/',
        '^src/(approvals/(routes|service)|operations/routes)\\.ts$',
      ],
    ),
    {
      name: 'services-know-no-http',
      comment: 'A service or a rule is the same whether HTTP, a workflow or an operator calls it.',
      severity: 'error',
      from: { path: [FEATURE, '^src/ledger/'], pathNot: EDGE },
      to: { path: ['^src/http/', '^src/[^/]+/routes'] },
    },
    {
      name: 'rules-are-pure',
      comment: 'rules.ts decides on plain data: core, other rules, and types.',
      severity: 'error',
      from: { path: '^src/.+[/-]rules(/|\\.ts$)' },
      to: {
        path: '^src/',
        pathNot: ['^src/core/', '[/-]rules(/|\\.ts$)', '/types\\.ts$'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'configuration-comes-in-as-arguments',
      comment:
        'Only processes and the command line read the configuration; every other part is given what it needs.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: '^src/(processes|config|ops)/',
      },
      to: { path: '^src/config/config\\.ts$' },
    },
    {
      name: 'the-client-stands-alone',
      comment: 'It is a package of its own: nothing of the service reaches those who install it.',
      severity: 'error',
      from: { path: '^packages/client/src/' },
      to: { pathNot: '^packages/client/src/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'the-client-runs-anywhere',
      comment: 'Wherever there are fetch and WebCrypto: only its programs need Node.',
      severity: 'error',
      from: { path: '^packages/client/src/', pathNot: '^packages/client/src/bin/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'entities-live-in-db',
      comment: 'TypeORM, and with it every entity, is known to db/ and the migrations alone.',
      severity: 'error',
      from: { path: '^(src|development)/', pathNot: '^src/db/' },
      to: { path: 'node_modules/typeorm/' },
    },
    {
      name: 'production-needs-no-tools',
      comment: 'What runs in production uses no test, benchmark, script or development package.',
      severity: 'error',
      from: { path: '^(src|workflows|activities|migrations)/' },
      to: { path: '^(test|bench|scripts)/' },
    },
    {
      name: 'development-stays-outside',
      comment: 'What an installation runs imports nothing of development.',
      severity: 'error',
      from: { path: '^(src|workflows|activities|migrations)/' },
      to: { path: '^development/' },
    },
    {
      name: 'no-development-packages',
      comment: 'They are not installed in production.',
      severity: 'error',
      from: { path: '^(src|development|migrations)/' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/@types/',
      },
    },
    {
      name: 'everything-resolves',
      comment: 'An import that leads nowhere would also escape these rules.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
