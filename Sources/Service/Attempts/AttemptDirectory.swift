internal import FoundationEssentials
internal import Glibc
package import JobProtocol

/// The folder of one attempt: `DATA/jobs/JOB/ATTEMPT-ATTEMPTID`. Its calls block while they write.
package struct AttemptDirectory: Sendable, Hashable {
  /// The path of the folder that holds the folder.
  private let data: String
  /// Its path below the data folder.
  package let name: String

  package var path: String { "\(data)/\(name)" }

  package init(data: String, name: String) {
    self.data = data
    self.name = name
  }

  package init(data: String, job: String, attempt: Int, attemptID: String) {
    self.init(data: data, name: "jobs/\(job)/\(attempt)-\(attemptID)")
  }

  /// Why a folder or a file of it cannot be written; a sentence.
  package struct WriteError: Error, Sendable, Hashable, CustomStringConvertible {
    package var description: String
  }

  /// Creates the folder and its specification, which only this user can read.
  package func create(_ specification: JobSpecification) throws(WriteError) {
    var folder = data
    for part in name.split(separator: "/") {
      folder += "/\(part)"
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw error("The folder \(folder) cannot be created") }
    }
    guard let json = try? specification.json else {
      throw WriteError(description: "The specification of the job cannot be written as JSON.")
    }
    let file = open("\(path)/\(JobFolder.specification)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw error("The specification of the job cannot be created in \(path)") }
    defer { close(file) }
    let bytes = Array(json)
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { write(file, $0.baseAddress.map { $0 + written }, bytes.count - written) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw error("The specification of the job cannot be written to \(path)") }
      written += count
    }
  }

  /// Reads the specification; nil if there is none.
  package func specification() -> JobSpecification? {
    let file = open("\(path)/\(JobFolder.specification)", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var (bytes, part) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
    while bytes.count <= JobSpecification.maximumBytes {
      let count = read(file, &part, part.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += part[..<count]
    }
    return try? JobSpecification(parsing: bytes)
  }

  /// Whether a process has written to the journal. A journal that cannot be looked at may have lines.
  package var hasJournal: Bool {
    let file = open("\(path)/\(JobFolder.journal)", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return errno != ENOENT }
    defer { close(file) }
    return lseek(file, 0, SEEK_END) != 0
  }

  /// Removes the specification, so that no process can run the attempt.
  package func removeSpecification() { unlink("\(path)/\(JobFolder.specification)") }

  private func error(_ sentence: String) -> WriteError {
    WriteError(description: "\(sentence): \(String(cString: strerror(errno))).")
  }
}
