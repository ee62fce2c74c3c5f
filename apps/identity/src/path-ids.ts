import { type PipeTransform } from '@nestjs/common';
import { DomainError, isNumericId, isUuid } from '@svc/kernel';

// Pipes for ids in paths. An invalid id causes a 404, as an unknown id does.

/** Converts a merchantId or siteId to a number. */
export const numericId: PipeTransform<unknown, number> = {
  transform: (text) => {
    if (!isNumericId(text))
      throw new DomainError('resource.not-found', { message: 'An id in the path is not a number, as in 1001.' });
    return Number(text);
  },
};

/** Converts a UUID, such as a keyId or secretId, to lower case. */
export const uuidId: PipeTransform<unknown, string> = {
  transform: (text) => {
    if (!isUuid(text)) throw new DomainError('resource.not-found', { message: 'An id in the path is not a UUID.' });
    return text.toLowerCase();
  },
};
