import { IsText, MAX_IDENTIFIER_LENGTH } from '@svc/contracts';

/** Body of `POST /admin/v1/merchants` and `PATCH /admin/v1/merchants/{merchantId}`. */
export class MerchantRequest {
  /** What payers see, 1 to 100 characters (C6). */
  @IsText(MAX_IDENTIFIER_LENGTH)
  name: string;
}
