import { anyText, describeBounds, label, optional, wholeNumber } from '../../test/bounds.js';
import { StoreCardRequest } from './cards.js';

// Each field must accept the values at its limits, and reject the values just beyond them.
describeBounds(
  StoreCardRequest,
  {},
  {
    encryptedCard: optional(anyText(4_096)),
    cardNumber: optional(anyText(40)),
    holderName: optional(label(100)),
    expiryMonth: optional(wholeNumber),
    expiryYear: optional(wholeNumber),
  },
);
