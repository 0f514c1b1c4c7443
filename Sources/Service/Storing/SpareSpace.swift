internal import CFiles
internal import Glibc
internal import Media

/// Room on the disk of the data folder that is given up, a piece at a time, when the database has none: what is uploaded must be noted
/// before its copy can make room. Its calls block for a moment.
final class SpareSpace: Sendable {
  private let folder: String
  private let pieceBytes: Int64

  /// The number of pieces, each a file.
  static let pieces = 16

  /// - Parameters:
  ///   - folder: is created if missing.
  ///   - bytes: of all pieces.
  init(folder: String, bytes: Int64) {
    self.folder = folder
    pieceBytes = max(bytes / Int64(Self.pieces), 4_096)
  }

  private func path(_ piece: Int) -> String { "\(folder)/\(piece)" }

  /// Takes the pieces that are not taken, as far as there is room.
  func reserve() {
    mkdir(folder, 0o700)
    for piece in 1...Self.pieces where access(path(piece), F_OK) != 0 {
      let file = open(path(piece), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard file >= 0 else { return }
      defer { close(file) }
      if cfiles_reserve(file, 0, pieceBytes) != 0 {
        unlink(path(piece))
        return
      }
    }
  }

  /// Gives a piece up.
  ///
  /// - Returns: whether there was one.
  func release() -> Bool { (1...Self.pieces).reversed().contains { unlink(path($0)) == 0 } }
}
