internal import Glibc

/// Where another program of this package is: named by a variable of the environment, beside the running program, or in
/// `../libexec/chatbot` from there.
package struct ProgramPath: Sendable, Hashable {
  /// Why there is no such program.
  package struct Missing: Error, Hashable {
    package let sentence: String
  }

  package let name: String
  /// The variable that names the program.
  package let variable: String

  /// The program that decodes.
  package static let media = ProgramPath(name: "chatbot-media", variable: "CHATBOT_MEDIA")
  /// The program that puts recordings into an object store.
  package static let service = ProgramPath(name: "chatbot-service", variable: "CHATBOT_SERVICE_PROGRAM")

  /// Finds the program.
  ///
  /// - Parameters:
  ///   - named: the value of the variable; nil if it is not set.
  ///   - running: the path of the running program.
  ///   - isExecutable: whether a path is that of a program.
  /// - Returns: its path, or a sentence that says why there is none.
  package func find(
    named: String?, running: String?, isExecutable: (String) -> Bool
  ) -> Result<String, Missing> {
    if let named, !named.isEmpty {
      if isExecutable(named) { return .success(named) }
      return .failure(Missing(sentence: "\(variable) names no program: \(named)."))
    }
    let folder = running.flatMap(Self.folder) ?? "."
    for path in ["\(folder)/\(name)", "\(folder)/../libexec/chatbot/\(name)"] where isExecutable(path) {
      return .success(path)
    }
    return .failure(
      Missing(
        sentence: "\(name) is neither beside this program, in \(folder), nor in ../libexec/chatbot from there, and "
          + "\(variable) does not name it."))
  }

  /// Finds the program of this process.
  package func find() -> Result<String, Missing> {
    let named = getenv(variable).map { String(cString: $0) }
    return find(named: named, running: Self.running) { access($0, X_OK) == 0 }
  }

  /// The path of the running program; nil if it is not known.
  package static var running: String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    if count > 0 { return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) }
    // In a chroot `/proc` may be missing; a program that was started by a path has it as its name.
    return CommandLine.arguments.first.flatMap { $0.contains("/") ? $0 : nil }
  }

  /// The folder of a program's path; nil for a name without one.
  package static func folder(_ path: String) -> String? {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) }
  }
}
