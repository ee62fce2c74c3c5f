import { ValidateIf } from 'class-validator';

/** For what a PATCH may leave out; unlike `IsOptional` it lets no null through, which is not "left out". */
export function IfPresent(): PropertyDecorator {
  return ValidateIf((_, value: unknown) => value !== undefined);
}
