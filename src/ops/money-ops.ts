/** `money-ops …`: the same program under the name that a package gives it (program-name.ts). */
import './main.js';
