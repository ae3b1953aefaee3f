import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isInPath } from './install.ts';
import { run } from './server.ts';

/** What tries the Helm chart. */
const HELM = 'helm.sh/helm/v3/cmd/helm@v3.22.0';
const KUBECONFORM = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0';
/** Whose description of its objects they are checked against. */
export const KUBERNETES_VERSION = '1.36.3';

const FOLDER = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'outrider', 'chart-tools');
export const HELM_PROGRAM = join(FOLDER, 'helm');
export const KUBECONFORM_PROGRAM = join(FOLDER, 'kubeconform');
export const KUBERNETES_SCHEMAS = join(FOLDER, `kubernetes-${KUBERNETES_VERSION}`);
const DONE = join(KUBERNETES_SCHEMAS, 'complete');

interface Definition {
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  properties?: Record<string, unknown>;
  additionalProperties?: unknown;
}

/** Are helm, kubeconform and the schemas of Kubernetes kept here? */
export function hasChartTools(): boolean {
  return [HELM_PROGRAM, KUBECONFORM_PROGRAM, DONE].every((path) => existsSync(path));
}

/** Builds them by Go where it is installed and they are not kept yet; without Go the chart is not tried. */
export async function ensureChartTools(say: (line: string) => void): Promise<void> {
  if (hasChartTools()) return;
  if (!isInPath('go')) return say('Go is not installed: the Helm chart is not tried');
  say('building helm and kubeconform …');
  mkdirSync(KUBERNETES_SCHEMAS, { recursive: true });
  for (const tool of [HELM, KUBECONFORM]) await run('env', [`GOBIN=${FOLDER}`, 'go', 'install', tool], { cwd: FOLDER });
  const module = await run('go', ['mod', 'download', '-json', `k8s.io/kubernetes@v${KUBERNETES_VERSION}`], {
    cwd: FOLDER,
  });
  const { Dir: folder } = JSON.parse(module.slice(module.indexOf('{'), module.lastIndexOf('}') + 1)) as { Dir: string };
  const file = join(folder, 'api/openapi-spec/swagger.json');
  writeSchemas(JSON.parse(readFileSync(file, 'utf8')) as { definitions: Record<string, Definition> });
  writeFileSync(DONE, '');
}

/** A file for each kind of object, as kubeconform looks for it. A field that the kind does not have is a mistake. */
function writeSchemas({ definitions }: { definitions: Record<string, Definition> }): void {
  for (const definition of Object.values(definitions))
    if (definition.properties !== undefined) definition.additionalProperties ??= false;
  // Numbers or texts, which the description has as texts alone.
  const anyOf = [{ type: 'string' }, { type: 'integer' }];
  definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString'] = { anyOf } as Definition;
  definitions['io.k8s.apimachinery.pkg.api.resource.Quantity'] = {
    anyOf: [{ type: 'string' }, { type: 'number' }],
  } as Definition;
  for (const [name, definition] of Object.entries(definitions))
    for (const { group, version, kind } of definition['x-kubernetes-group-version-kind'] ?? []) {
      const [prefix = ''] = group.split('.');
      const file = [kind, ...(prefix === '' ? [] : [prefix]), version].join('-').toLowerCase();
      const reached = reachable(name, definitions);
      const schema = { $ref: `#/definitions/${name}`, definitions: reached };
      writeFileSync(join(KUBERNETES_SCHEMAS, `${file}.json`), JSON.stringify(schema));
    }
}

/** A definition and those that it names, and so on. */
function reachable(name: string, definitions: Record<string, Definition>): Record<string, Definition> {
  const found = new Map<string, Definition>();
  const open = [name];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const definition = definitions[next];
    if (found.has(next) || definition === undefined) continue;
    found.set(next, definition);
    for (const [, named = ''] of JSON.stringify(definition).matchAll(/"#\/definitions\/([^"]+)"/g)) open.push(named);
  }
  return Object.fromEntries(found);
}
