/** `money-ops …` in a checkout: the same program under that name (src/ops/program-name.ts). */
import './ops.js';
