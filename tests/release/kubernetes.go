// SPDX-License-Identifier: MIT

// kubernetes renders the chart as helm would, and decodes documents into Kubernetes' own types. An
// unknown field or a duplicate key is an error. Upper and lower case are not distinguished.
//
//	kubernetes FILE                 decodes the manifest
//	kubernetes CHART VALUES         fills in the chart's templates, and decodes them
//
// Prints each document as one line of JSON with its keys in order.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func die(format string, args ...interface{}) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

func read(path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		die("%v", err)
	}
	return data
}

func decode(doc string) {
	var meta metav1.TypeMeta
	var into interface{}
	if err := yaml.Unmarshal([]byte(doc), &meta); err != nil {
		die("%v", err)
	}
	switch meta.APIVersion + " " + meta.Kind {
	case "v1 Namespace":
		into = &corev1.Namespace{}
	case "v1 ConfigMap":
		into = &corev1.ConfigMap{}
	case "apps/v1 DaemonSet":
		into = &appsv1.DaemonSet{}
	default:
		die("%s %s: no such type is known here", meta.APIVersion, meta.Kind)
	}
	if err := yaml.UnmarshalStrict([]byte(doc), into); err != nil {
		die("%s: %v", meta.Kind, err)
	}
	line, err := json.Marshal(into)
	if err != nil {
		die("%v", err)
	}
	fmt.Println(string(line))
}

func decodeAll(text string) {
	for _, doc := range regexp.MustCompile(`(?m)^---\s*$`).Split(text, -1) {
		var any interface{}
		if err := yaml.Unmarshal([]byte(doc), &any); err != nil {
			die("%v", err)
		}
		if any != nil {
			decode(doc)
		}
	}
}

func render(chart, values string) {
	var given, base map[string]interface{}
	for path, to := range map[string]*map[string]interface{}{chart + "/values.yaml": &base, values: &given} {
		if err := yaml.Unmarshal(read(path), to); err != nil {
			die("%s: %v", path, err)
		}
	}
	for key, value := range given { // helm merges maps at all levels; this, at the first level only
		old, isMap := base[key].(map[string]interface{})
		if part, ok := value.(map[string]interface{}); ok && isMap {
			for k, v := range part {
				old[k] = v
			}
		} else {
			base[key] = value
		}
	}
	data := map[string]interface{}{"Values": base,
		"Release": map[string]interface{}{"Namespace": "gpusched", "Name": "gpusched"}}
	files, _ := filepath.Glob(chart + "/templates/*.yaml")
	sort.Strings(files)
	for _, file := range files {
		var out bytes.Buffer
		t, err := template.New(file).Option("missingkey=error").Funcs(sprig.TxtFuncMap()).Parse(string(read(file)))
		if err == nil {
			err = t.Execute(&out, data)
		}
		if err != nil {
			die("%v", err)
		}
		if strings.Contains(out.String(), "<no value>") {
			die("%s: a value is missing", file)
		}
		decodeAll(out.String())
	}
}

func main() {
	switch len(os.Args) {
	case 2:
		decodeAll(string(read(os.Args[1])))
	case 3:
		render(os.Args[1], os.Args[2])
	default:
		die("kubernetes FILE | CHART VALUES")
	}
}
