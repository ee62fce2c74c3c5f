import 'reflect-metadata';
import { IsText, MAX_EMAIL_LENGTH, type Role, ROLES } from '@svc/contracts';
import { IsIn, IsInt, Max, Min } from 'class-validator';
import { IfPresent } from '../../if-present.js';

/** Body of `POST /admin/v1/merchants/{merchantId}/people`. */
export class InvitePersonRequest {
  @IsText(MAX_EMAIL_LENGTH)
  email: string;

  @IsIn(ROLES)
  role: Role;

  /** A site of the merchant. Absent: the role is valid for the merchant and all its sites. */
  @IfPresent()
  @IsInt()
  @Min(1)
  @Max(999_999_999_999_999)
  siteId?: number;
}

/** Body of `POST /admin/v1/people/sign-in-link`. */
export class SignInLinkRequest {
  /** Email of a person, or of an open invitation. */
  @IsText(MAX_EMAIL_LENGTH)
  email: string;
}
