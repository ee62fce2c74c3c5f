import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Mode, Scope } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { PartnerCredentials, type PartnerKey } from './partner-credentials.js';
import { hasScope, PartnerTokens } from './partner-tokens.js';

/** The caller of the main API: a partner, or a customer of it. */
export interface AuthenticatedPartner {
  /** UUID. All data of a partner belongs to this organisation and mode. */
  readonly organisationId: string;
  readonly mode: Mode;
  /** UUID of a customer, who reads and pays only their own. Undefined: the partner's server. */
  readonly customerReference: string | undefined;
}

interface PartnerRequest {
  readonly headers: Readonly<Record<string, unknown>>;
  partner?: AuthenticatedPartner;
  partnerKey?: PartnerKey;
}

const SCOPE = Symbol('scope of a route');

/**
 * Admits the holder of a partner's `x-api-key`, who has no token yet (A1).
 *
 * @throws credentials.invalid
 */
@Injectable()
export class PartnerKeyGuard implements CanActivate {
  constructor(@Inject(PartnerCredentials) private readonly credentials: PartnerCredentials) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<PartnerRequest>();
    request.partnerKey = await this.credentials.getPartnerKey(request.headers['x-api-key']);
    return true;
  }
}

/**
 * Admits partners and their customers: `x-api-key` of a partner and an identity token, both of one organisation and mode (A11,
 * A6). Every problem with either is the same 401 (C5); a token that does not allow the route is a 403. Use {@link ForPartners}.
 *
 * @throws credentials.invalid
 * @throws credentials.forbidden The token does not allow this.
 */
@Injectable()
export class PartnerGuard implements CanActivate {
  constructor(
    @Inject(PartnerCredentials) private readonly credentials: PartnerCredentials,
    @Inject(PartnerTokens) private readonly tokens: PartnerTokens,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<PartnerRequest>();
    const key = await this.credentials.getPartnerKey(request.headers['x-api-key']);
    const claims = await this.tokens.verify(request);
    if (claims.org !== key.organisationId || claims.mode !== key.mode) throw new DomainError('credentials.invalid');
    const scope = this.reflector.getAllAndOverride<Scope>(SCOPE, [context.getHandler(), context.getClass()]);
    if (!hasScope(claims, scope)) throw new DomainError('credentials.forbidden');
    request.partner = {
      organisationId: key.organisationId,
      mode: key.mode,
      customerReference: claims.typ === 'customer' ? claims.sub : undefined,
    };
    return true;
  }
}

/**
 * On a controller or a method: for partners whose token has this scope. Needs PartnerAuthModule among the imports of the app's
 * module. {@link Partner} injects the admitted partner into a parameter.
 */
export function ForPartners(scope: Scope): ClassDecorator & MethodDecorator {
  return applyDecorators(SetMetadata(SCOPE, scope), UseGuards(PartnerGuard));
}

/** Parameter decorator: the {@link AuthenticatedPartner} that {@link ForPartners} admitted. */
export const Partner = createParamDecorator((_: unknown, context: ExecutionContext): AuthenticatedPartner => {
  const { partner } = context.switchToHttp().getRequest<PartnerRequest>();
  if (!partner) throw new Error('@Partner() needs @ForPartners().');
  return partner;
});

/** Parameter decorator: the {@link PartnerKey} that {@link PartnerKeyGuard} admitted. */
export const KeyOfPartner = createParamDecorator((_: unknown, context: ExecutionContext): PartnerKey => {
  const { partnerKey } = context.switchToHttp().getRequest<PartnerRequest>();
  if (!partnerKey) throw new Error('@KeyOfPartner() needs PartnerKeyGuard.');
  return partnerKey;
});
