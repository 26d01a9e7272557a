/** `money-ops …`: the command line under its name in a package (program-name.ts). */
import './main.js';
