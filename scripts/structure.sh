#!/bin/bash
# Prints the structure of the sources: for each module its folders, files, lines, median length of a file, and circular
# dependencies. A folder depends on another folder of its module if one of its files names a type that the other folder
# declares. The top folder of a module is not checked: its files may use every folder, and every folder may use them.
#
# Usage: scripts/structure.sh            the table, then the circles
#        scripts/structure.sh circles    only the circles; fails if there is one
set -euo pipefail
cd "$(dirname "$0")/.."

find Sources -name '*.swift' | LC_ALL=C sort | LC_ALL=C awk -v mode="${1:-table}" '
  # Removes comments and strings, as far as one line allows; names of types are searched in the rest.
  function plain(text) {
    if (in_string) { if (text ~ /"""/) in_string = 0; return "" }
    if (text ~ /"""/) { if (gsub(/"""/, "\"\"\"", text) == 1) in_string = 1; sub(/"""(.*)/, "", text) }
    gsub(/\\"/, "", text)
    gsub(/"[^"]*"/, "", text)
    sub(/\/\/.*/, "", text)
    return text
  }

  function median(module,   n, i, j, value, list) {
    n = split(lengths[module], list, " ")
    for (i = 2; i <= n; i++) {
      value = list[i] + 0
      for (j = i - 1; j > 0 && list[j] + 0 > value; j--) list[j + 1] = list[j]
      list[j + 1] = value
    }
    return list[int((n + 1) / 2)] + 0
  }

  {
    path = $0
    depth = split(path, part, "/")
    module = part[2]
    # Only the first level of folders counts; folders inside a folder belong to it.
    folder = (depth > 3) ? part[3] : ""
    if (!(module in files)) modules[++module_count] = module
    files[module]++
    if (folder != "" && !((module, folder) in seen)) {
      seen[module, folder] = 1
      folders[module] = folders[module] " " folder
      folder_count[module]++
    }
    count = 0
    in_string = 0
    while ((getline text < path) > 0) {
      count++
      text = plain(text)
      # A name behind a dot belongs to the type before it, which is counted.
      gsub(/\.[A-Z][A-Za-z0-9_]*/, " ", text)
      n = split(text, word, /[^A-Za-z0-9_]+/)
      for (i = 1; i <= n; i++) {
        if (word[i] ~ /^[A-Z]/) {
          if (i > 1 && word[i - 1] ~ /^(struct|enum|class|actor|protocol|typealias)$/ && text !~ /^ *case /) {
            # A name that two folders declare is ignored.
            if ((module, word[i]) in home && home[module, word[i]] != folder) home[module, word[i]] = "?"
            else home[module, word[i]] = folder
          }
          if (folder != "") uses[module, folder, word[i]] = path
        }
      }
    }
    close(path)
    lines[module] += count
    lengths[module] = lengths[module] " " count
    if (count > longest[module]) longest[module] = count
    if (count <= 25) short[module]++
    all_files++
    all_lines += count
    all_short += (count <= 25)
    all = all " " count
  }

  END {
    for (key in uses) {
      split(key, name, SUBSEP)
      if ((name[1], name[3]) in home) {
        target = home[name[1], name[3]]
        if (target != name[2] && target != "" && target != "?") {
          edge[name[1], name[2], target] = 1
          if (!((name[1], name[2], target) in example) || name[3] < example[name[1], name[2], target]) example[name[1], name[2], target] = name[3]
        }
      }
    }
    if (mode == "table") {
      printf "%-17s %7s %6s %7s %7s %8s %8s\n", "module", "folders", "files", "lines", "median", "longest", "<= 25"
      for (m = 1; m <= module_count; m++) {
        module = modules[m]
        printf "%-17s %7d %6d %7d %7d %8d %8d\n", module, folder_count[module], files[module], lines[module], median(module), \
          longest[module], short[module]
      }
      lengths["all"] = all
      printf "%-17s %7s %6d %7d %7d %8s %8d\n\n", "all", "", all_files, all_lines, median("all"), "", all_short
    }
    circles = 0
    for (m = 1; m <= module_count; m++) {
      module = modules[m]
      n = split(folders[module], f, " ")
      for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) reach[i, j] = ((module, f[i], f[j]) in edge)
      for (k = 1; k <= n; k++) for (i = 1; i <= n; i++) if (reach[i, k]) for (j = 1; j <= n; j++) if (reach[k, j]) reach[i, j] = 1
      for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) {
        if (i != j && reach[i, j] && reach[j, i] && ((module, f[i], f[j]) in edge)) {
          printf "circle: %s/%s uses %s of %s/%s\n", module, f[i], example[module, f[i], f[j]], module, f[j]
          circles++
        }
      }
    }
    if (circles == 0 && mode == "table") print "No circles between the folders of a module."
    exit circles > 0
  }'
