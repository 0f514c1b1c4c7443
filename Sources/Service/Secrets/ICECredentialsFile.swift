import FoundationEssentials
import JobProtocol
import OptionValues

extension JobSecrets.ICECredentials {
  /// Why a file has no credentials; a sentence without what is in it.
  struct FileError: Error, CustomStringConvertible {
    let description: String
  }

  /// Reads the user and the password for the TURN servers from a file of the settings. Blocks.
  init(file path: String) throws(FileError) {
    do throws(BoundedFile.ReadError) {
      let text = String(decoding: try BoundedFile.read(path, longest: SecretFile.maximumBytes), as: UTF8.self)
      if let pair = UserAndPassword(text) {
        self.init(user: pair.user, password: pair.password)
        return
      }
    } catch {
      throw FileError(description: error.sentence)
    }
    throw FileError(description: "\(path) must contain user:password, or the user and the password on a line each.")
  }
}
