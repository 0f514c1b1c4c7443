/// Where the value of an option comes from.
package enum OptionOrigin: Sendable, Hashable, CustomStringConvertible {
  case commandLine
  /// The environment variable of this name.
  case environment(String)
  case file(String, line: Int)
  case byDefault

  package var description: String {
    switch self {
    case .commandLine: "the command line"
    case .environment(let variable): "the variable \(variable)"
    case .file(let path, let line): "\(path), line \(line)"
    case .byDefault: "the default"
    }
  }
}

/// An option of a command with its value.
package struct ResolvedOption: Sendable, Hashable {
  package var option: OptionDescription
  /// As it is written on the command line, without dashes: of a flag also the name that switches it off.
  package var name: String
  /// The values of an option; empty for a flag.
  package var values: [String]
  package var origin: OptionOrigin

  /// The arguments that give it on the command line.
  package var arguments: [String] {
    option.kind == .flag ? ["--\(name)"] : values.map { "--\(name)=\($0)" }
  }
}

/// What a variable or a file says of an option that it has.
struct OptionSetting {
  /// nil for a flag that is switched off and has no opposite.
  var value: ResolvedOption?
}

/// What a file or a variable says that cannot be used, as a sentence.
package struct SettingsError: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ sentence: String) {
    description = sentence
  }
}
