import FoundationEssentials
import Glibc
import OptionValues
import Synchronization

/// The file of tokens, which is read again when it changes.
///
/// A file that others may read, or that has a line that cannot be read, is not used: nobody is let in until it is put right.
package final class TokenFile: Sendable {
  private struct State {
    var version: PrivateFile.Version?
    var tokens = AccessTokenList()
    var problem: String?
  }

  package let path: String
  private let state = Mutex(State())

  package init(_ path: String) {
    self.path = path
    _ = current()
  }

  /// What is wrong with the file; nil if it is used.
  package var problem: String? {
    _ = current()
    return state.withLock { $0.problem }
  }

  /// Returns the token with this text; nil if there is none.
  package func token(withText text: String) -> AccessToken? { current().token(withText: text) }

  /// Whether the file still has this token, with the same role and project.
  package func contains(_ token: AccessToken) -> Bool { current().tokens.contains(token) }

  /// Whether somebody has this name.
  package func contains(name: String) -> Bool { current().tokens.contains { $0.name == name } }

  /// One `stat` for each call, and the file only where it has changed: a few kilobytes of a local disk.
  private func current() -> AccessTokenList {
    let version = PrivateFile.Version(path)
    return state.withLock { state in
      if let version, state.version == version { return state.tokens }
      state = State(version: version)
      do {
        if let sentence = PrivateFile.problem(path) { throw Unusable(sentence: sentence) }
        let data = try BoundedFile.read(path, longest: AccessTokenList.maximumFileBytes)
        state.tokens = try AccessTokenList(String(decoding: data, as: UTF8.self))
      } catch let error as AccessTokenList.ParseError {
        state.problem = "\(path):\(error.line): \(error.sentence)"
      } catch let error as BoundedFile.ReadError {
        state.problem = error.sentence
      } catch let error as Unusable {
        state.problem = error.sentence
      } catch {
        state.problem = "\(path) cannot be read."
      }
      return state.tokens
    }
  }

  private struct Unusable: Error {
    var sentence: String
  }
}

extension TokenFile {
  /// Makes a file of tokens with one of an administrator of the project `default`, whose text is written beside it.
  ///
  /// - Returns: whether the file was made; false if there is one.
  package static func create(_ path: String, adminTokenFile: String) throws(PrivateFile.WriteError) -> Bool {
    guard access(path, F_OK) != 0 else { return false }
    let text = AccessToken.randomText()
    let token = AccessToken(
      name: "admin", role: .admin, project: defaultProject, digest: SHA256Digest(of: text.utf8))
    // The text first: a crash between both leaves a file that opens nothing, and the next start replaces it.
    unlink(adminTokenFile)
    try PrivateFile.create(adminTokenFile, text + "\n")
    return try PrivateFile.create(path, "# name role project sha256:HEX\n\(token.line)\n")
  }

  package static let defaultProject = "default"
}
