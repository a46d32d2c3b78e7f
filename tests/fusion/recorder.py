# SPDX-License-Identifier: Apache-2.0
"""Writes a graph in the text form of text.h. The record_*.py programs say what their framework's graph becomes in GE."""


class Recorder:
    """Lines of one file. Names of tensors are "node" or "node:port"."""

    def __init__(self, comment):
        self.lines = [f"# {comment}"]
        self.shapes = {}
        self.used = set()

    def _name(self, wish):
        name = wish.replace("/", ".").replace(":", ".").replace(",", ".")
        unique, number = name, 1
        while unique in self.used:
            unique, number = f"{name}.{number}", number + 1
        self.used.add(unique)
        return unique

    @staticmethod
    def _shape(dtype, shape):
        return f"{dtype}[{','.join(str(int(d)) for d in shape)}]"

    def input(self, name, dtype, shape):
        name = self._name(name)
        self.shapes[name] = (dtype, tuple(shape))
        self.lines.append(f"input {name} {self._shape(dtype, shape)}")
        return name

    def ints(self, name, values, shape=None, dtype="int64"):
        name = self._name(name)
        values = [int(v) for v in values]
        shape = (len(values),) if shape is None else shape
        self.shapes[name] = (dtype, tuple(shape))
        self.lines.append(f"const {name} {self._shape(dtype, shape)} {','.join(map(str, values))}")
        return name

    def zeros(self, name, dtype, shape):
        name = self._name(name)
        self.shapes[name] = (dtype, tuple(shape))
        self.lines.append(f"zeros {name} {self._shape(dtype, shape)}")
        return name

    def node(self, name, type_, inputs, outputs, after=None, **attrs):
        """outputs: one (dtype, shape) per output."""
        name = self._name(name)
        words = [f"node {name} {type_}"]
        words += [f"out={self._shape(*output)}" for output in outputs]
        if inputs:
            words.append("in=" + ",".join(inputs))
        for key, value in attrs.items():
            values = value if isinstance(value, (list, tuple)) else [value]
            words.append(f"{key}=" + ",".join(str(int(v)) for v in values))
        if after:
            words.append(f"after={after}")
        for port, output in enumerate(outputs):
            self.shapes[f"{name}:{port}"] = output
            if port == 0:
                self.shapes[name] = output
        self.lines.append(" ".join(words))
        return name

    def output(self, *names):
        self.lines.append("output " + " ".join(names))

    def expect(self, **fields):
        self.lines.append("expect " + (" ".join(f"{k}={v}" for k, v in fields.items()) or "nothing"))

    def write(self, path):
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(self.lines) + "\n")
