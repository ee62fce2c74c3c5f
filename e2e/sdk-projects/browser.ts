/** The code of a merchant's own page, into which the payer types the card. */
import { encryptCard } from '@svc/sdk/card';

Object.assign(globalThis, { encryptCard });
