import tseslint from 'typescript-eslint';
import { plainWords } from './scripts/lint/plain-words.mjs';

const fileLength = (max) => ['error', { max, skipBlankLines: true, skipComments: true }];

const noFloats = ['error'].concat(
  [
    'CallExpression[callee.name=/^(parseFloat|Number)$/]',
    'MemberExpression[object.name="Number"][property.name="parseFloat"]',
  ].map((selector) => ({
    selector,
    message: 'Money is a bigint: a number loses what is beyond 2^53.',
  })),
);

const noEnvironment = {
  object: 'process',
  property: 'env',
  message: 'Only config.ts reads the environment: take what you need as an argument.',
};

/** Globals of scripts; in TypeScript the compiler knows them. */
const NODE_GLOBALS = Object.fromEntries(
  [
    'process',
    'console',
    'fetch',
    'URL',
    'Buffer',
    'AbortSignal',
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
  ].map((name) => [name, 'readonly']),
);

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      '.run/',
      'bench/results/',
      'node_modules/',
      'packages/client/src/generated/',
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.base],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/no-base-to-string': 'error',
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/no-unnecessary-condition': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-restricted-properties': ['error', noEnvironment],
      'max-lines': fileLength(300),
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: { globals: NODE_GLOBALS },
    rules: {
      'no-undef': 'error',
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-unused-vars': 'error',
      'max-lines': fileLength(300),
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['**/*.ts', '**/*.mjs'],
    plugins: { comments: { rules: { 'plain-words': plainWords } } },
    rules: { 'comments/plain-words': 'error' },
  },
  { files: ['src/**/*.ts'], ignores: ['src/ops/**'], rules: { 'no-console': 'error' } },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '/html\\.js$', importNames: ['trustedHtml'] }] },
      ],
    },
  },
  {
    files: [
      ...[
        'ledger',
        'auditor',
        'transfers',
        'bonuses',
        'batches',
        'payouts',
        'funding',
        'accounts',
        'approvals',
        'statements',
        'restores',
        'staff',
      ].map((folder) => `src/${folder}/**/*.ts`),
      'src/core/amount.ts',
    ],
    rules: { 'no-restricted-syntax': noFloats },
  },
  // Programs of their own, each the only reader of the few variables that it has.
  {
    files: [
      'src/config/config.ts',
      'scripts/**',
      'test/**',
      'bench/**',
      'packages/client/src/bin/**',
      'examples/**',
    ],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      'max-lines': fileLength(600),
      // A describe block is one function.
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
);
