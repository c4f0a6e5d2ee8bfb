/** Modes: the registers of a memory, a new one, and which one is the default. */
import { useState } from "preact/hooks";
import { api, type Schemas } from "./api";
import type { Given } from "./screen";
import { to } from "./route";
import { t } from "./texts";
import { Busy, Confirm, Empty, Field, Notice, useEdit, useLoad, valueOf, Words } from "./ui";

export function Modes({ user, may }: Given) {
  const [turn, again] = useState(0);
  const list = useLoad(() => api("get", "/v1/modes", { query: { user_id: user } }), [user, turn]);
  const { problem, busy, run } = useEdit();
  const change = (name: string, more: object) =>
    run(async () => (await api("put", "/v1/modes/{name}", { at: { name }, body: { user_id: user, ...more } }), again(turn + 1)));
  const rename = (name: string, project: Project, new_name: string) =>
    run(async () => (await api("post", "/v1/modes/{name}/rename", { at: { name }, body: { user_id: user, ...project, new_name } }), again(turn + 1)));
  const remove = async (name: string, project: Project) => (await api("delete", "/v1/modes/{name}", { at: { name }, query: { user_id: user, ...project } }), again(turn + 1));
  return (
    <>
      <p class="quiet">{t("A mode keeps a register of the memory apart, such as code or journal. A question in a mode finds its cards only.")}</p>
      {may("write") && <New create={change} busy={busy} />}
      <Notice problem={list.problem ?? problem} again={list.again} />
      {list.busy && !list.value && <Busy />}
      {list.value && !list.value.modes.length && <Empty>{t("No mode yet. Every card is in the general mode.")}</Empty>}
      <ul class="cards">
        {(list.value?.modes ?? []).map((each) => (
          <One key={`${each.of} ${each.project_id} ${each.name}`} mode={each} user={user} edits={may("write") && each.of !== "everybody"} busy={busy} change={change} rename={rename} remove={remove} />
        ))}
      </ul>
    </>
  );
}

interface Project {
  project_id?: string;
}

interface Shown {
  mode: Schemas["ListedMode"];
  user: string;
  edits: boolean;
  busy: boolean;
  change: (name: string, more: object) => Promise<boolean>;
  rename: (name: string, project: Project, to: string) => Promise<boolean>;
  remove: (name: string, project: Project) => Promise<unknown>;
}

function One({ mode, user, edits, busy, change, rename, remove }: Shown) {
  const [name, setName] = useState(mode.name);
  const [removing, setRemoving] = useState(false);
  const project: Project = mode.project_id ? { project_id: mode.project_id } : {};
  return (
    <li class="card">
      <a class="content" href={to("memory", { user, mode: mode.name, project: mode.project_id ?? "" })}>
        {mode.name}
      </a>
      <p class="facts">
        {mode.is_default && <span class="status current">{t("default")}</span>}
        <span>{mode.project_id ?? t("all projects")}</span>
        <span>{mode.embedder}</span>
        {mode.default_decay && <span>{t("decay: {speed}", { speed: mode.default_decay })}</span>}
      </p>
      {mode.description && (
        <p>
          <Words text={mode.description} />
        </p>
      )}
      {edits && (
        <>
          <button type="button" disabled={busy} onClick={() => change(mode.name, { ...project, is_default: !mode.is_default })}>
            {t(mode.is_default ? "no longer the default" : "make it the default")}
          </button>
          <details>
            <summary>{t("rename or delete")}</summary>
            <form class="fields" onSubmit={(event) => (event.preventDefault(), rename(mode.name, project, name.trim()))}>
              <Field label={t("its new name")}>
                <input value={name} required maxLength={64} onInput={(event) => setName(valueOf(event))} />
              </Field>
              <button disabled={busy || name.trim() === mode.name}>{t("rename")}</button>
              <button type="button" class="danger" disabled={busy} onClick={() => setRemoving(true)}>
                {t("delete …")}
              </button>
            </form>
          </details>
          {removing && (
            <Confirm title={t("Delete the mode {name}", { name: mode.name })} action={t("delete")} danger run={() => remove(mode.name, project)} close={() => setRemoving(false)}>
              <p>{t("Its cards stay, and belong to the general mode.")}</p>
            </Confirm>
          )}
        </>
      )}
    </li>
  );
}

function New({ create, busy }: { create: Shown["change"]; busy: boolean }) {
  const empty = { name: "", project: "", description: "", decay: "" };
  const [form, set] = useState(empty);
  const bind = (field: keyof typeof empty) => ({ value: form[field], onInput: (event: Event) => set({ ...form, [field]: valueOf(event) }) });
  const submit = async (event: Event) => {
    event.preventDefault();
    const more = {
      ...(form.project && { project_id: form.project }),
      ...(form.description && { description: form.description }),
      ...(form.decay && { default_decay: form.decay }),
    };
    if (await create(form.name.trim(), more)) set(empty);
  };
  return (
    <form class="panel" onSubmit={submit}>
      <Field label={t("name of the new mode")}>
        <input {...bind("name")} required maxLength={64} />
      </Field>
      <Field label={t("project")}>
        <input {...bind("project")} placeholder={t("all projects")} />
      </Field>
      <Field label={t("decay of its cards")}>
        <select value={form.decay} onChange={(event) => set({ ...form, decay: valueOf(event) })}>
          {["", "fast", "medium", "slow", "none"].map((each) => (
            <option key={each} value={each}>
              {each || t("usual")}
            </option>
          ))}
        </select>
      </Field>
      <Field label={t("what belongs to it")} wide>
        <input {...bind("description")} maxLength={500} />
      </Field>
      <button class="main" disabled={busy}>
        {t("add")}
      </button>
    </form>
  );
}
