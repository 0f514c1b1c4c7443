import FoundationEssentials
import OptionValues
import Synchronization
package import Webhooks

/// The files of secrets, each of which is read again when it changes.
package final class WebhookSecretFiles: Sendable {
  private struct Known {
    var version: PrivateFile.Version?
    var result: Result<WebhookSecretList, Unusable>
  }

  /// Why a secret cannot be used: a sentence that tells the operator where to look.
  package struct Unusable: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
  }

  private let paths: [String: String]
  private let known = Mutex<[String: Known]>([:])

  package init(_ secrets: [String: ServiceConfiguration.Webhooks.Secret]) { paths = secrets.mapValues(\.file) }

  /// Returns the secrets of a name. One `stat` for each call, and the file only where it has changed.
  package func secrets(named name: String) throws(Unusable) -> WebhookSecretList {
    guard let path = paths[name] else { throw Unusable(description: "The secret \(name) is not in the configuration.") }
    let version = PrivateFile.Version(path)
    let result = known.withLock { known in
      if let version, let former = known[name], former.version == version { return former.result }
      let result = Self.read(path)
      known[name] = Known(version: version, result: result)
      return result
    }
    return try result.get()
  }

  /// What is wrong with the files; empty if all can be used.
  package var problems: [String] {
    paths.keys.sorted().compactMap { name in
      do throws(Unusable) {
        _ = try secrets(named: name)
        return nil
      } catch {
        return error.description
      }
    }
  }

  private static func read(_ path: String) -> Result<WebhookSecretList, Unusable> {
    if let sentence = PrivateFile.problem(path) { return .failure(Unusable(description: sentence)) }
    do {
      let data = try BoundedFile.read(path, longest: WebhookSecretList.maximumFileBytes)
      return .success(try WebhookSecretList(parsing: String(decoding: data, as: UTF8.self)))
    } catch let error as WebhookSecretList.ParseError {
      return .failure(Unusable(description: "\(path):\(error.line): \(error.sentence)"))
    } catch let error as BoundedFile.ReadError {
      return .failure(Unusable(description: error.sentence))
    } catch {
      return .failure(Unusable(description: "\(path) cannot be read."))
    }
  }
}
