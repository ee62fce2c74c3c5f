import 'reflect-metadata';
import { IsText, MAX_EMAIL_LENGTH, OPERATOR_ROLES, type OperatorRole } from '@svc/contracts';
import { IsIn } from 'class-validator';

/** Body of `POST /admin/v1/operators`. */
export class InviteOperatorRequest {
  @IsText(MAX_EMAIL_LENGTH)
  email: string;

  /** A viewer reads everything, an operator also changes. */
  @IsIn(OPERATOR_ROLES)
  role: OperatorRole;
}

/** Body of `PATCH /admin/v1/operators/{id}`. */
export class ChangeOperatorRequest {
  @IsIn(OPERATOR_ROLES)
  role: OperatorRole;
}
