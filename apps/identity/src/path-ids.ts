import { type PipeTransform } from '@nestjs/common';
import { DomainError, isNumericId, isUuid } from '@svc/kernel';

// An invalid id is not found, like an unknown one.

/** A merchantId or siteId of the path, as a number. */
export const numericId: PipeTransform<unknown, number> = {
  transform: (text) => {
    if (!isNumericId(text)) throw new DomainError('resource.not-found');
    return Number(text);
  },
};

/** A keyId or secretId of the path. */
export const uuidId: PipeTransform<unknown, string> = {
  transform: (text) => {
    if (!isUuid(text)) throw new DomainError('resource.not-found');
    return text.toLowerCase();
  },
};
