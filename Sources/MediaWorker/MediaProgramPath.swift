internal import Glibc

/// Where the program `chatbot-media` is: named by `CHATBOT_MEDIA`, beside the running program, or in `../libexec/chatbot` from there.
package enum MediaProgramPath {
  package static let variable = "CHATBOT_MEDIA"
  private static let name = "chatbot-media"

  /// Finds the program.
  ///
  /// - Parameters:
  ///   - named: the value of the variable; nil if it is not set.
  ///   - running: the path of the running program.
  ///   - isExecutable: whether a path is that of a program.
  /// - Returns: its path, or a sentence that says why there is none.
  package static func find(
    named: String?, running: String?, isExecutable: (String) -> Bool
  ) -> Result<String, Missing> {
    if let named, !named.isEmpty {
      if isExecutable(named) { return .success(named) }
      return .failure(Missing(sentence: "\(variable) names no program: \(named)."))
    }
    let folder = running.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } } ?? "."
    for path in ["\(folder)/\(name)", "\(folder)/../libexec/chatbot/\(name)"] where isExecutable(path) {
      return .success(path)
    }
    return .failure(
      Missing(
        sentence: "\(name) is neither beside this program, in \(folder), nor in ../libexec/chatbot from there, and "
          + "\(variable) does not name it."))
  }

  package struct Missing: Error, Hashable {
    package let sentence: String
  }

  /// Finds the program of this process.
  package static func find() -> Result<String, Missing> {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    // In a chroot `/proc` may be missing; a program that was started by a path has it as its name.
    let first = CommandLine.arguments.first.flatMap { $0.contains("/") ? $0 : nil }
    let running = count > 0 ? text(buffer.prefix(count)) : first
    let named = getenv(variable).map { String(cString: $0) }
    return find(named: named, running: running) { access($0, X_OK) == 0 }
  }

  private static func text(_ bytes: some Sequence<CChar>) -> String {
    String(decoding: bytes.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
