# What `kwctl run` prints, in the form of a session's answer.json: the object instead of the patch. $request is the admission request.

def steps: ltrimstr("/") | split("/") | map(gsub("~1"; "/") | gsub("~0"; "~"));

# The path of a place in $object: a step into a list is a number, "-" the place behind its end.
def path_in($object):
  reduce steps[] as $step ({path: [], here: $object};
    (if (.here | type) != "array" then $step elif $step == "-" then (.here | length) else ($step | tonumber) end) as $key
    | .path += [$key]
    | .here = (if .here == null then null else .here[$key] end))
  | .path;

# One edit of a JSON patch, of the three that the policy server writes.
def edit($edit):
  . as $object
  | ($edit.path | path_in($object)) as $path
  | if $edit.op == "remove" then delpaths([$path])
    elif $edit.op == "replace" then setpath($path; $edit.value)
    elif $edit.op != "add" then error("no such edit here: \($edit.op)")
    elif (getpath($path[:-1]) | type) == "array" then
      setpath($path[:-1]; getpath($path[:-1]) | .[:$path[-1]] + [$edit.value] + .[$path[-1]:])
    else setpath($path; $edit.value)
    end;

(if .patch == null then [] else (.patch | @base64d | fromjson) end) as $patch
| {
    allowed,
    changed: (.patch != null),
    object: (reduce $patch[] as $one ($request[0].object; edit($one))),
    warnings: (.warnings // []),
    auditAnnotations,
    message: .status.message,
    code: .status.code
  }
