internal import FoundationEssentials
internal import Glibc

/// The folder beside the output in which the finished parts are kept until the output is complete: `NAME.parts`.
///
/// It is locked, so that two programs do not write the same output.
final class PartsFolder {
  let path: String
  private let lock: Int32

  private var planPath: String { path + "/plan.json" }

  /// - Parameters:
  ///   - output: the path of the output.
  ///   - plan: what the parts depend on. Parts of another plan are not used.
  ///   - isForced: whether parts of another plan are removed.
  init(beside output: String, plan: [UInt8], isForced: Bool) throws(ComposerFailure) {
    path = output + ".parts"
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      throw .output("“\(path)” cannot be made: \(OutputFile.reason(errno)).")
    }
    lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard lock >= 0 else { throw .output("“\(path)” cannot be opened: \(OutputFile.reason(errno)).") }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      close(lock)
      throw .usage("“\(output)” is being composed by another process.")
    }
    do throws(ComposerFailure) {
      try prepare(output, plan: plan, isForced: isForced)
    } catch {
      close(lock)
      throw error
    }
  }

  deinit { close(lock) }

  private func prepare(_ output: String, plan: [UInt8], isForced: Bool) throws(ComposerFailure) {
    if let known = FileManager.default.contents(atPath: planPath) {
      if Array(known) == plan { return }
      guard isForced || !hasParts else {
        throw .usage(
          "“\(path)” has parts of a composition of other recordings or with other options. --force removes them and begins again."
        )
      }
      remove(keepsFolder: true)
    } else if let names = try? FileManager.default.contentsOfDirectory(atPath: path), !names.isEmpty {
      // Without a plan nothing says what they are of.
      remove(keepsFolder: true)
    }
    let temporary = planPath + ".new"
    let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw .output("“\(temporary)” cannot be written: \(OutputFile.reason(errno)).") }
    defer { close(file) }
    var done = 0
    while done < plan.count {
      done += Int(
        try FullDisk.waiting("“\(temporary)” cannot be written") {
          plan.withUnsafeBytes { bytes in
            Int32(clamping: write(file, bytes.baseAddress.map { $0 + done }, bytes.count - done))
          }
        })
    }
    try FullDisk.waiting("“\(temporary)” cannot be written") { fsync(file) }
    guard rename(temporary, planPath) == 0 else {
      throw .output("“\(planPath)” cannot be written: \(OutputFile.reason(errno)).")
    }
  }

  /// Whether any part is finished.
  private var hasParts: Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.contains { $0.utf8.starts(with: "video-".utf8) && $0.hasSuffix(".part") }
  }

  /// Removes the folder if nothing in it is worth to be kept.
  func removeUnlessUsed() {
    if !hasParts { remove() }
  }

  /// The path of a part, from 0.
  func part(_ number: Int) -> String { "\(path)/video-\(number + 1).part" }

  /// The path of the output until it is complete.
  var unfinishedOutput: String { path + "/output" }

  /// Removes what this program made in the folder, and the folder.
  func remove(keepsFolder: Bool = false) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    for name in names where ["video-", "plan.json", "output"].contains(where: { name.utf8.starts(with: $0.utf8) }) {
      unlink("\(path)/\(name)")
    }
    if !keepsFolder { rmdir(path) }
  }
}
