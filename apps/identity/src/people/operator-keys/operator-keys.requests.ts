import 'reflect-metadata';
import { IsText, MAX_EMAIL_LENGTH, MAX_OPERATOR_KEY_DAYS, OPERATOR_ROLES, type OperatorRole } from '@svc/contracts';
import { IsIn, IsInt, Max, Min } from 'class-validator';

/** Body of `POST /admin/v1/operator-keys`. */
export class CreateOperatorKeyRequest {
  /** Email of the operator whose key it is. */
  @IsText(MAX_EMAIL_LENGTH)
  email: string;

  /** At most the role of the operator. */
  @IsIn(OPERATOR_ROLES)
  role: OperatorRole;

  /** The key expires after this number of days. */
  @IsInt()
  @Min(1)
  @Max(MAX_OPERATOR_KEY_DAYS)
  days: number;
}
