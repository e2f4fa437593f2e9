"""ok-to-stop: may these brokers be stopped?"""
