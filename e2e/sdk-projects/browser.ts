/** What a merchant's own page does with a card that is typed into it. */
import { encryptCard } from '@svc/sdk/card';

Object.assign(globalThis, { encryptCard });
