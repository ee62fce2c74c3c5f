/** The code of a merchant's own page for a typed card. */
import { encryptCard } from '@svc/sdk/card';

Object.assign(globalThis, { encryptCard });
