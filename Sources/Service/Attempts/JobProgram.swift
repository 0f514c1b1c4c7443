internal import Glibc
internal import JobProtocol
internal import Media
internal import OptionValues

/// The program that runs jobs.
package enum JobProgram {
  /// The environment variable that names it.
  package static let variable = "CHATBOT_PROGRAM"

  /// Returns the path of `chatbot`: what ``variable`` says, else the program beside this one, else that in `PATH`.
  package static func find() -> String? {
    if let named = variable(named: Self.variable), !named.isEmpty { return named }
    var folders = ProgramPath.running.flatMap(ProgramPath.folder).map { [$0] } ?? []
    folders += (variable(named: "PATH") ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map { String($0) }
    return folders.map { "\($0)/chatbot" }.first { access($0, X_OK) == 0 }
  }

  /// The variables that a job process gets: none that could hold a secret of the service or set an option.
  ///
  /// The runtime's report of a crash is off unless the service has it: it takes seconds, in which no other attempt can begin.
  package static func environment() -> [String] {
    ["SWIFT_BACKTRACE=\(variable(named: "SWIFT_BACKTRACE") ?? "enable=no")"]
      + [
        "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
        "LD_LIBRARY_PATH",
        "CHATBOT_MEDIA",
      ].compactMap { name in variable(named: name).map { "\(name)=\($0)" } }
  }

  private static func variable(named name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

extension JobSecrets.ICECredentials {
  /// Reads the file of a server's credentials, `user:password`. Blocks while it reads.
  ///
  /// - Throws: an error whose description is a sentence, without anything of the file.
  init(file path: String) throws(AttemptDirectory.WriteError) {
    let text: String
    do throws(BoundedFile.ReadError) {
      text = String(decoding: try BoundedFile.read(path, longest: SecretFile.maximumBytes), as: UTF8.self)
    } catch {
      throw AttemptDirectory.WriteError(description: error.sentence)
    }
    guard let (user, password) = UserAndPassword.parse(text) else {
      throw AttemptDirectory.WriteError(description: "\(path) must contain user:password.")
    }
    self.init(user: user, password: password)
  }
}
