/** `money-ops …`: the same program under its name in a package (program-name.ts). */
import './main.js';
