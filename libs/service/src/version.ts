/** The version of all packages. `npm run release` writes it. */
export const VERSION = '0.1.0';
