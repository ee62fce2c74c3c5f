/** Creates JSON Schemas (2020-12) of TypeScript types. The compiler resolves `Omit`, unions and type arguments. */
import { relative } from 'node:path';
import ts from 'typescript';
import { readDecorators, readDescription, root } from './program.ts';
import { evaluate, readFieldRules } from './validators.ts';

export type Schema = { [keyword: string]: unknown };

/** Creates one component for each named type. */
export class Schemas {
  /** The member `components/schemas` of a document. */
  readonly components: Record<string, Schema> = {};
  private readonly typeByName = new Map<string, ts.Type>();
  private readonly checker: ts.TypeChecker;

  constructor(checker: ts.TypeChecker) {
    this.checker = checker;
  }

  /**
   * The schema of a type, as a reference if the type has a name.
   *
   * @param location a node of the source from which the type is used. The compiler needs it to resolve the members of a
   *   computed type such as `Partial<X>`, which have no declaration of their own.
   */
  schemaOf(type: ts.Type, location: ts.Node): Schema {
    const name = findTypeName(type);
    if (name === undefined) return this.inline(type, location);
    const unique = this.uniqueName(name, type);
    if (this.components[unique] === undefined) {
      const component = (this.components[unique] = {} as Schema);
      const symbol = type.aliasSymbol ?? type.getSymbol();
      const description = readDescription(symbol, this.checker);
      Object.assign(component, description === '' ? {} : { description }, this.inline(type, location));
    }
    return { $ref: `#/components/schemas/${unique}` };
  }

  /** If two types of one document have the same name, the second gets its app or library as prefix. */
  private uniqueName(name: string, type: ts.Type): string {
    const existing = this.typeByName.get(name);
    if (existing === undefined || existing === type) {
      this.typeByName.set(name, type);
      return name;
    }
    const file = (type.aliasSymbol ?? type.getSymbol())!.declarations![0]!.getSourceFile().fileName;
    const folder = relative(root, file).split('/')[1]!;
    const prefixed = folder.replaceAll(/(^|-)(\w)/g, (_, __, letter: string) => letter.toUpperCase()) + name;
    if ((this.typeByName.get(prefixed) ?? type) !== type) throw new Error(`Three types are named ${name}.`);
    this.typeByName.set(prefixed, type);
    return prefixed;
  }

  private inline(type: ts.Type, location: ts.Node): Schema {
    const { checker } = this;
    if (type.flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any | ts.TypeFlags.TypeParameter)) return {};
    if (type.flags & ts.TypeFlags.Null) return { type: 'null' };
    if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value };
    if (type.flags & ts.TypeFlags.BooleanLiteral) return { const: checker.typeToString(type) === 'true' };
    if (type.flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral)) return { type: 'string' };
    if (type.flags & ts.TypeFlags.Number) return { type: 'number' };
    if (type.flags & ts.TypeFlags.Boolean) return { type: 'boolean' };
    // JSON.stringify writes a Date as text.
    if (type.getSymbol()?.name === 'Date') return { type: 'string', format: 'date-time' };
    if (type.isUnion()) return this.union(type, location);
    if (type.flags & ts.TypeFlags.NonPrimitive) return { type: 'object' };
    if (checker.isArrayType(type) || checker.isTupleType(type)) {
      const [element] = checker.getTypeArguments(type as ts.TypeReference);
      return { type: 'array', items: this.schemaOf(element!, location) };
    }
    if (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) return this.object(type, location);
    throw new Error(`No schema for ${checker.typeToString(type)}`);
  }

  private union(type: ts.UnionType, location: ts.Node): Schema {
    const members = type.types.filter(({ flags }) => !(flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void)));
    const [first] = members;
    if (members.length === 1) return this.schemaOf(first!, location);
    if (members.every(({ flags }) => flags & ts.TypeFlags.BooleanLike)) return { type: 'boolean' };
    const isNullable = members.some(({ flags }) => flags & ts.TypeFlags.Null);
    const values = members.filter(({ flags }) => !(flags & ts.TypeFlags.Null));
    if (values.every((each) => each.isStringLiteral() || each.isNumberLiteral())) {
      const kind = values[0]!.isStringLiteral() ? 'string' : 'integer';
      const names = values.map((each) => each.symbol?.name).filter((name) => name !== undefined && kind === 'integer');
      const enumeration = values.map((each) => (each as ts.LiteralType).value as unknown);
      return {
        type: isNullable ? [kind, 'null'] : kind,
        enum: isNullable ? [...enumeration, null] : enumeration,
        ...(names.length > 0 ? { 'x-enum-varnames': names } : {}),
      };
    }
    const schemas = mergeBooleans(values).map((each) =>
      each === 'boolean' ? { type: 'boolean' } : this.schemaOf(each, location),
    );
    if (isNullable && schemas.length === 1) return allowNull(schemas[0]!);
    return { anyOf: isNullable ? [...schemas, { type: 'null' }] : schemas };
  }

  private object(type: ts.Type, location: ts.Node): Schema {
    const { checker } = this;
    const index = checker.getIndexTypeOfType(type, ts.IndexKind.String);
    if (index && index.flags & ts.TypeFlags.Never) return { type: 'object', additionalProperties: false };
    if (index) return { type: 'object', additionalProperties: this.schemaOf(index, location) };
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    for (const property of checker.getPropertiesOfType(type)) {
      const { schema, isRequired } = this.property(property, location);
      properties[property.name] = schema;
      if (isRequired) required.push(property.name);
    }
    return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
  }

  private property(property: ts.Symbol, location: ts.Node): { schema: Schema; isRequired: boolean } {
    const { checker } = this;
    const declared = checker.getTypeOfSymbolAtLocation(property, property.valueDeclaration ?? location);
    const description = readDescription(property, checker);
    const declaration = property.valueDeclaration;
    const decorators = declaration ? readDecorators(declaration) : [];
    const initializer = declaration && ts.isPropertyDeclaration(declaration) ? declaration.initializer : undefined;
    let schema = addFormat(this.schemaOf(declared, location), property.name, readSchemaTag(property, checker));
    if (decorators.length > 0) {
      const { own, each } = readFieldRules(decorators, checker);
      schema = addRules(schema, own);
      if (Object.keys(each).length > 0 && schema['items'] !== undefined)
        schema['items'] = addRules(schema['items'] as Schema, each);
    }
    if (initializer) schema = { ...schema, ...readDefault(initializer, checker) };
    const isRequired = !(property.flags & ts.SymbolFlags.Optional) && initializer === undefined;
    return { schema: addDescription(schema, description), isRequired };
  }
}

function readDefault(initializer: ts.Expression, checker: ts.TypeChecker): Schema {
  return { default: initializer.kind === ts.SyntaxKind.NullKeyword ? null : evaluate(initializer, checker) };
}

/** The tag `@schema` of a property's docstring: a format of texts, or `integer`. */
function readSchemaTag(property: ts.Symbol, checker: ts.TypeChecker): string | undefined {
  const tag = property.getJsDocTags(checker).find(({ name }) => name === 'schema');
  return tag && ts.displayPartsToString(tag.text);
}

/** Adds the format of a text, or the type `integer` of a number, which follows from the tag or the name. */
function addFormat(schema: Schema, name: string, tag: string | undefined): Schema {
  const isText = schema['type'] === 'string' || String(schema['type']) === 'string,null';
  if (isText && tag !== undefined) return { ...schema, format: tag };
  if (isText && name.endsWith('UTCDate')) return { ...schema, format: 'date-time' };
  const isWhole = tag === 'integer' || /(Id|Amount|^amount|count)$/.test(name);
  return schema['type'] === 'number' && isWhole ? { ...schema, type: 'integer' } : schema;
}

/** Adds the keywords of validation rules. A rule's `type: 'integer'` also applies to a schema that allows null. */
function addRules(schema: Schema, rules: Schema): Schema {
  const merged: Schema = { ...schema, ...rules };
  const isNullable = Array.isArray(schema['type']) && schema['type'].includes('null');
  if (isNullable && typeof rules['type'] === 'string') merged['type'] = [rules['type'], 'null'];
  if (isNullable && Array.isArray(rules['enum'])) merged['enum'] = [...(rules['enum'] as unknown[]), null];
  if (rules['const'] !== undefined || (schema['enum'] !== undefined && schema['type'] === undefined))
    delete merged['anyOf'];
  for (const key of Object.keys(merged)) if (merged[key] === undefined) delete merged[key];
  return merged;
}

function addDescription(schema: Schema, description: string): Schema {
  return description === '' ? schema : { description, ...schema };
}

function allowNull(schema: Schema): Schema {
  if (typeof schema['type'] === 'string') return { ...schema, type: [schema['type'], 'null'] };
  return { anyOf: [schema, { type: 'null' }] };
}

/** Merges `true | false` beside other members of a union. */
function mergeBooleans(types: readonly ts.Type[]): (ts.Type | 'boolean')[] {
  const rest = types.filter(({ flags }) => !(flags & ts.TypeFlags.BooleanLiteral));
  return types.length - rest.length === 2 ? [...rest, 'boolean'] : [...types];
}

/**
 * Name of an interface, a class, an enumeration or an alias; undefined for an inline type. A generic interface has a name
 * only with the default arguments, because other arguments give it other members.
 */
function findTypeName(type: ts.Type): string | undefined {
  const { aliasSymbol } = type;
  if (aliasSymbol)
    return isWorkspaceSymbol(aliasSymbol) && !type.aliasTypeArguments?.length ? aliasSymbol.name : undefined;
  const symbol = type.getSymbol();
  const flags = ts.SymbolFlags.Interface | ts.SymbolFlags.Class | ts.SymbolFlags.Enum;
  if (!symbol || !(symbol.flags & flags) || !isWorkspaceSymbol(symbol)) return undefined;
  return !(symbol.flags & ts.SymbolFlags.Interface) || hasDefaultArguments(type) ? symbol.name : undefined;
}

function hasDefaultArguments(type: ts.Type): boolean {
  const { target, typeArguments = [] } = type as ts.TypeReference;
  // The declaration itself has its own type parameters as arguments.
  return (
    target === type ||
    typeArguments.every((argument, index) => argument === target.typeParameters?.[index]?.getDefault())
  );
}

function isWorkspaceSymbol(symbol: ts.Symbol): boolean {
  const file = symbol.declarations?.[0]?.getSourceFile().fileName ?? '';
  return file.startsWith(root) && !file.includes('/node_modules/');
}
